package stage

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Credential is an API key and whose it is.
type Credential struct {
	Owner string
	Key   string
}

// Config is where the files are that a service reads at its start.
type Config struct {
	Dir          string
	Keys         string // file
	Profiles     string // folder
	Contracts    string // folder
	Certificates string // folder, empty unless Options.Configure fills it
	Trust        string // file that need not exist
}

// config is that, with the secrets.
type config struct {
	Config
	owners   []Credential
	operator Credential
	env      []string // keys of providers
}

// writeConfig writes keys, profiles and contracts below dir. base gives the
// URL at which the service finds a provider.
func writeConfig(dir string, o Options, base func(name string) string) (*config, error) {
	c := &config{Config: Config{
		Dir: dir, Keys: filepath.Join(dir, "keys"), Profiles: filepath.Join(dir, "profiles"),
		Contracts: filepath.Join(dir, "contracts"), Certificates: filepath.Join(dir, "certificates"), Trust: filepath.Join(dir, "trust.json"),
	}}
	for _, folder := range []string{c.Profiles, c.Contracts, c.Certificates} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return nil, err
		}
	}
	if err := c.writeKeys(o.Owners); err != nil {
		return nil, err
	}
	for _, p := range o.Providers {
		if err := c.writeProfile(o.Files, p.Name, base(p.Name)); err != nil {
			return nil, err
		}
	}
	if err := copyFS(o.Files, "contracts", c.Contracts); err != nil {
		return nil, fmt.Errorf("copy the contracts: %w", err)
	}
	if o.Configure != nil {
		if err := o.Configure(c.Config); err != nil {
			return nil, fmt.Errorf("configure the service: %w", err)
		}
	}
	return c, nil
}

var (
	baseURL = regexp.MustCompile(`(?m)^base_url: .*$`)
	keyEnv  = regexp.MustCompile(`(?m)^  env: (\S+)$`)
)

// writeProfile writes the profile of a provider with the address of its
// stand-in. The rest of the file stays as it is, byte for byte.
func (c *config) writeProfile(files fs.FS, name, base string) error {
	text, err := fs.ReadFile(files, "profiles/"+name+".yaml")
	if err != nil {
		return fmt.Errorf("profile of provider %s: %w", name, err)
	}
	if len(baseURL.FindAll(text, 2)) != 1 {
		return fmt.Errorf("profile of provider %s: it has no line base_url, or more than one", name)
	}
	text = baseURL.ReplaceAllLiteral(text, []byte("base_url: "+base))
	for _, env := range keyEnv.FindAllSubmatch(text, -1) {
		c.env = append(c.env, string(env[1])+"=stand-in") // a stand-in takes any key
	}
	return os.WriteFile(filepath.Join(c.Profiles, name+".yaml"), text, 0o600)
}

// reroute copies the profiles to a folder of their own in which some providers
// are found elsewhere. Without routes there is none: "".
func (c *config) reroute(routes map[string]string) (string, error) {
	if len(routes) == 0 {
		return "", nil
	}
	dir, err := os.MkdirTemp(c.Dir, "profiles-")
	if err != nil {
		return "", err
	}
	files := os.DirFS(c.Profiles)
	if err := copyFS(files, ".", dir); err != nil {
		return "", fmt.Errorf("copy the profiles: %w", err)
	}
	for name, base := range routes {
		text, err := fs.ReadFile(files, name+".yaml")
		if err != nil {
			return "", fmt.Errorf("profile of provider %s: %w", name, err)
		}
		text = baseURL.ReplaceAllLiteral(text, []byte("base_url: "+base))
		if err := os.WriteFile(filepath.Join(dir, name+".yaml"), text, 0o600); err != nil {
			return "", err
		}
	}
	return dir, nil
}

func (c *config) writeKeys(owners int) error {
	var lines strings.Builder
	add := func(name, role string) Credential {
		key := "ilk_" + rand.Text()
		sum := sha256.Sum256([]byte(key))
		fmt.Fprintf(&lines, "%s %s %s\n", name, role, hex.EncodeToString(sum[:]))
		return Credential{Owner: name, Key: key}
	}
	c.operator = add("operator-1", "operator")
	for i := range owners {
		c.owners = append(c.owners, add(fmt.Sprintf("o-%d", i+1), "owner"))
	}
	return os.WriteFile(c.Keys, []byte(lines.String()), 0o600)
}

// flags are what the service is told.
func (c *config) flags() []string {
	flags := []string{
		"--keys", c.Keys, "--profiles", c.Profiles, "--contracts", c.Contracts, "--certificates", c.Certificates,
	}
	if exists(c.Trust) {
		flags = append(flags, "--trust", c.Trust)
	}
	return flags
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// copyFS copies a folder out of files.
func copyFS(files fs.FS, name, to string) error {
	return fs.WalkDir(files, name, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := filepath.Join(to, strings.TrimPrefix(path, name))
		if d.IsDir() {
			return os.MkdirAll(target, 0o700)
		}
		text, err := fs.ReadFile(files, path)
		if err != nil {
			return err
		}
		return os.WriteFile(target, text, 0o600)
	})
}
