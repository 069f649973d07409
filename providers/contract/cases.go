package contract

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

type caseDocument struct {
	ID        string   `yaml:"id"`
	Input     any      `yaml:"input"`
	Reference any      `yaml:"reference"`
	Expected  any      `yaml:"expected"`
	Tags      []string `yaml:"tags"`
	Language  string   `yaml:"language"`
	Needle    string   `yaml:"needle"`
	Title     string   `yaml:"title"`
}

func (l *loader) cases(c *Contract) error {
	entries, err := fs.ReadDir(l.fsys, path.Join(l.dir, "cases"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return &Error{path.Join(l.dir, "cases"), "cannot be read: " + reason(err)}
	}
	if len(entries) > maxCases {
		return &Error{path.Join(l.dir, "cases"), fmt.Sprintf("more than %d cases", maxCases)}
	}
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), ".yaml")
		if !ok {
			continue
		}
		name := "cases/" + e.Name()
		var d caseDocument
		if err := l.yaml(name, &d); err != nil {
			return err
		}
		if d.ID != "" && d.ID != id {
			return &Error{path.Join(l.dir, name), fmt.Sprintf("id %q does not match the name of the file", short(d.ID))}
		}
		k := Case{ID: id, Title: d.Title, Input: d.Input, Reference: d.Reference, Expected: d.Expected, Tags: d.Tags, Language: d.Language, Needle: d.Needle}
		if err := c.checkCase(&k); err != nil {
			return &Error{path.Join(l.dir, name), err.Error()}
		}
		c.Cases = append(c.Cases, k)
	}
	return nil
}

// checkCase makes sure that a case can be asked, and that its own reference would
// be accepted.
func (c *Contract) checkCase(k *Case) error {
	if !idForm.MatchString(k.ID) {
		return fmt.Errorf("the name of a case: small letters, digits, dots, hyphens and underscores, a letter first")
	}
	if k.Input == nil {
		return errors.New("the case has no input")
	}
	if _, err := c.Request(k.Input); err != nil {
		return err
	}
	if k.Reference == nil {
		return nil
	}
	fault, broken := c.Verify(k.Input, k.Reference, k.Reference)
	switch {
	case fault != nil:
		return fmt.Errorf("the reference breaks the schema%s: %s", at(fault.Path), fault.Detail)
	case broken != nil:
		return fmt.Errorf("the reference breaks rule %s: %s", broken.Rule.ID, broken.Why)
	}
	return nil
}
