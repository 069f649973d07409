package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/interlock-harness/interlock/providers/profile"
	"github.com/interlock-harness/interlock/providers/prompt/render"
)

// promptSubject reads how a route renders prompts: what names a built-in profile
// with a section prompt, a file with a whole profile, or a file with such a section
// alone.
func promptSubject(what string) (*render.Subject, error) {
	info, err := os.Stat(what)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, usagef("%v", err)
		}
		return builtInSubject(what)
	}
	if info.IsDir() {
		return nil, usagef("%s is a folder; name a file with a profile, or with its section prompt", what)
	}
	whole := deployed{profilesDir: filepath.Dir(what)}
	if p, err := profile.Load(os.DirFS(whole.profilesDir), filepath.Base(what)); err == nil {
		return subjectOf(whole.prompt(p))(p.Name)
	}
	subject, err := render.Load(what)
	if err != nil {
		return nil, usagef("%v", err)
	}
	return subject, nil
}

func builtInSubject(name string) (*render.Subject, error) {
	var d deployed
	all, err := d.profiles()
	if err != nil {
		return nil, err
	}
	if _, ok := all[name]; !ok && filepath.Base(name) != name {
		return nil, usagef("there is no file %s", name)
	}
	p, err := provider(all, name)
	if err != nil {
		return nil, err
	}
	return subjectOf(d.prompt(p))(p.Name)
}

// subjectOf is what a profile's section prompt gave; having none is an error here.
func subjectOf(s *render.Subject, err error) func(name string) (*render.Subject, error) {
	return func(name string) (*render.Subject, error) {
		if err == nil && s == nil {
			return nil, usagef("the profile %s has no section prompt; docs/prompt.md says what stands in one", name)
		}
		return s, err
	}
}
