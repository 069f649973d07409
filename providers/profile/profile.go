// Package profile reads provider profiles: which route leads to which model. One
// strict YAML file per profile, named after it; what is wrong is said with file
// and line.
//
// A profile holds no secret. A base URL leads to one host over http or https and
// nothing in it is a credential.
package profile

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strings"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/strictyaml"
	"github.com/interlock-harness/interlock/providers/wire"
)

// Error is what is wrong with a profile, in one sentence, and in which file.
type Error struct{ File, Text string }

func (e *Error) Error() string { return e.File + ": " + e.Text }

const suffix = ".yaml"

var (
	nameForm = regexp.MustCompile(`^[a-z][a-z0-9._-]{0,63}$`)
	envForm  = regexp.MustCompile(`^[A-Z][A-Z0-9_]{0,99}$`)
)

// LoadAll reads every *.yaml file of a folder, by name. One that does not load
// fails the whole.
func LoadAll(fsys fs.FS, dir string) (map[string]providers.Profile, error) {
	return all(fsys, dir, Load)
}

// Vendors reads every *.yaml file of a folder of public endpoints. They are profiles
// without a model: which one is meant says who uses them.
func Vendors(fsys fs.FS, dir string) (map[string]providers.Profile, error) {
	return all(fsys, dir, func(fsys fs.FS, file string) (providers.Profile, error) {
		p, err := read(fsys, file)
		if err != nil {
			return p, err
		}
		if p.Model != "" {
			return p, &Error{file, "a vendor's profile names no model"}
		}
		named := p
		named.Model = "any"
		if err := Check(named); err != nil {
			return p, &Error{file, err.Error()}
		}
		return p, nil
	})
}

func all(fsys fs.FS, dir string, load func(fs.FS, string) (providers.Profile, error)) (map[string]providers.Profile, error) {
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return nil, &Error{dir, "cannot be read: " + cause(err)}
	}
	all := map[string]providers.Profile{}
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), suffix); ok {
			if all[name], err = load(fsys, path.Join(dir, e.Name())); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// Load reads one profile.
func Load(fsys fs.FS, file string) (providers.Profile, error) {
	p, err := read(fsys, file)
	if err != nil {
		return p, err
	}
	if err := Check(p); err != nil {
		return p, &Error{file, err.Error()}
	}
	return p, nil
}

func read(fsys fs.FS, file string) (providers.Profile, error) {
	var p providers.Profile
	data, err := fs.ReadFile(fsys, file)
	if err != nil {
		return p, &Error{file, "cannot be read: " + cause(err)}
	}
	if err := strictyaml.Decode(file, data, &p); err != nil {
		return p, err
	}
	if stem := strings.TrimSuffix(path.Base(file), suffix); p.Name != stem {
		return p, &Error{file, fmt.Sprintf("name %.70q does not match the name of the file", p.Name)}
	}
	return p, nil
}

// Check says what is wrong with a profile, wherever it comes from.
func Check(p providers.Profile) error {
	if !nameForm.MatchString(p.Name) {
		return fmt.Errorf("name %.70q: small letters, digits, dots, hyphens and underscores, a letter first", p.Name)
	}
	if _, err := wire.For(p.Protocol); err != nil {
		return fmt.Errorf("protocol %.40q: there are %s", p.Protocol, protocols())
	}
	if p.Model == "" {
		return errors.New("model is missing")
	}
	if err := checkURL(p); err != nil {
		return err
	}
	if p.Auth.Env != "" && !envForm.MatchString(p.Auth.Env) {
		return errors.New("auth.env is no name of an environment variable (capital letters, digits, underscores)") // not shown: it may be a key
	}
	if (p.Auth.Env == "") != (p.Auth.Header == "") {
		return errors.New("auth needs both header and env, or neither")
	}
	if strings.EqualFold(p.IdempotencyHeader, "Idempotency-Key") {
		return errors.New("idempotency_header Idempotency-Key would make Go's transport send a request twice; take another header")
	}
	if _, can := wire.BackgroundFor(p.Protocol); p.Background && !can {
		return fmt.Errorf("background: protocol %s keeps no answer that could be asked for; leave it out", p.Protocol)
	}
	for name := range p.Headers {
		if secret[http.CanonicalHeaderKey(name)] {
			return fmt.Errorf("header %.40q carries a credential: name the environment variable in auth instead", name)
		}
	}
	for _, s := range p.RefusedStatuses {
		if s < 400 || s > 599 {
			return fmt.Errorf("refused_statuses: %d is no status of a refusal", s)
		}
	}
	return checkPrompt(p.Prompt)
}

var secret = map[string]bool{"Authorization": true, "X-Api-Key": true, "X-Goog-Api-Key": true, "Api-Key": true, "Cookie": true}

func checkURL(p providers.Profile) error {
	u, err := url.Parse(p.BaseURL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return errors.New("base_url is not http(s)://host[:port][/path]")
	case u.User != nil:
		return errors.New("base_url holds a user or password: credentials come from the environment")
	case u.RawQuery != "" || u.Fragment != "":
		return errors.New("base_url has a query or fragment")
	case u.Scheme == "http" && !p.AllowLoopback:
		return errors.New("base_url without TLS is for loopback only: set allow_loopback: true for a stand-in, else use https")
	}
	ip := net.ParseIP(u.Hostname())
	inside := u.Hostname() == "localhost" || ip != nil && (ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast() || ip.IsUnspecified())
	if inside && !p.AllowLoopback {
		return errors.New("base_url leads to this machine or network: set allow_loopback: true if that is meant")
	}
	return nil
}

func protocols() string {
	var names []string
	for _, p := range wire.Protocols() {
		names = append(names, string(p))
	}
	return strings.Join(names, ", ")
}

// cause is a file error without its path.
func cause(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "there is no such file"
	}
	return err.Error()
}
