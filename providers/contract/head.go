package contract

import (
	"fmt"
	"io/fs"
	"path"
)

// Head is what can be known of a contract without compiling it: for a gate, which
// has to answer at once.
type Head struct {
	ID, Version string
	Must        []string
	Plan        Plan
	Independent bool
}

// Ref is id@version.
func (h Head) Ref() string { return h.ID + "@" + h.Version }

// ReadHead reads contract.yaml of folder dir and nothing else. That it succeeds
// does not mean that the contract loads.
func ReadHead(fsys fs.FS, dir string) (Head, error) {
	l := loader{fsys: fsys, dir: dir, parts: map[string]any{}}
	var d document
	if err := l.yaml("contract.yaml", &d); err != nil {
		return Head{}, err
	}
	file := path.Join(dir, "contract.yaml")
	switch {
	case !idForm.MatchString(d.ID) || path.Base(dir) != d.ID:
		return Head{}, &Error{file, fmt.Sprintf("id %s does not match the folder %s", short(d.ID), path.Base(dir))}
	case !versionForm.MatchString(d.Version):
		return Head{}, &Error{file, fmt.Sprintf("version %q: a version such as 1.2.3", short(d.Version))}
	}
	return Head{d.ID, d.Version, d.Must, d.Plan, d.Independent}, nil
}
