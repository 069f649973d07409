package cli

import (
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/certificate"
	"github.com/interlock-harness/interlock/providers/contract"
	"github.com/interlock-harness/interlock/providers/fixtures"
	"github.com/interlock-harness/interlock/providers/profile"
	"github.com/interlock-harness/interlock/providers/prompt/render"
)

// deployed are the profiles and contracts that a command goes by: those that are
// built in, or those of folders.
type deployed struct {
	profilesDir, contractsDir string
}

func (d *deployed) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&d.profilesDir, "profiles", "", "folder of provider profiles (default: the built-in demos)")
	cmd.Flags().StringVar(&d.contractsDir, "contracts", "", "folder of contracts (default: the built-in ones)")
}

// folder is a folder of the machine, or the built-in one of the same kind.
func folder(dir, kind string) (fs.FS, string, error) {
	if dir == "" {
		return fixtures.FS, kind, locked(fixtures.FS, kind, "providers/fixtures/"+kind)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, "", usagef("--%s %s is no folder", kind, shellWord(dir))
	}
	fsys := os.DirFS(dir)
	return fsys, ".", locked(fsys, ".", dir)
}

func (d *deployed) profiles() (map[string]providers.Profile, error) {
	fsys, dir, err := folder(d.profilesDir, "profiles")
	if err != nil {
		return nil, err
	}
	all, err := profile.LoadAll(fsys, dir)
	if err != nil {
		return nil, usagef("%v", err)
	}
	return all, nil
}

// route picks a deployed profile, or the public endpoint of a vendor, for which
// the caller names the model.
func (c *certification) route(all map[string]providers.Profile, name string) (providers.Profile, error) {
	if p, ok := all[name]; ok {
		return p, nil
	}
	fsys, dir, err := folder("", "vendors")
	if err != nil {
		return providers.Profile{}, err
	}
	vendors, err := profile.Vendors(fsys, dir)
	if err != nil {
		return providers.Profile{}, infrastructuref("vendors: %v", err)
	}
	p, ok := vendors[name]
	switch {
	case ok && c.model == "":
		return p, usagef("%s is the public endpoint of a vendor: say which model with --model", name)
	case ok:
		c.vendor = true
		return p, nil
	}
	maps.Copy(vendors, all)
	return provider(vendors, name)
}

// elsewhere moves the route of a vendor to another address.
func (c *certification) elsewhere() error {
	if !c.vendor {
		return usagef("--base-url goes with the public endpoint of a vendor; the address of %s stands in its profile", c.profile.Name)
	}
	moved := c.profile
	moved.BaseURL, moved.AllowLoopback = c.baseURL, false
	if profile.Check(moved) != nil { // on this machine, since the caller says so
		moved.AllowLoopback = true
	}
	if err := profile.Check(moved); err != nil {
		return usagef("--base-url: %v", err)
	}
	c.profile = moved
	return nil
}

// provider picks one profile.
func provider(all map[string]providers.Profile, name string) (providers.Profile, error) {
	p, ok := all[name]
	if !ok {
		known := slices.Sorted(maps.Keys(all))
		return p, usagef("no provider %q.%s There are: %s.", name, didYouMean(name, known), strings.Join(known, ", "))
	}
	return p, nil
}

// prompt reads what the section prompt of a profile names, nil where it has none.
func (d *deployed) prompt(p providers.Profile) (*render.Subject, error) {
	if p.Prompt == nil {
		return nil, nil
	}
	subject, err := render.Open(*p.Prompt, func(name string) ([]byte, error) {
		switch {
		case d.profilesDir == "":
			return fs.ReadFile(fixtures.FS, path.Join("profiles", name))
		case filepath.IsAbs(name):
			return os.ReadFile(name)
		}
		return os.ReadFile(filepath.Join(d.profilesDir, name))
	})
	if err != nil {
		return nil, usagef("the section prompt of %s: %v", p.Name, err)
	}
	subject.Profile.Name = p.Name
	subject.Remember()
	return subject, nil
}

// contractAt finds the folder of a contract by id or id@version; the version need
// not be the deployed one.
func (d *deployed) contractAt(name string) (fs.FS, string, error) {
	fsys, dir, err := folder(d.contractsDir, "contracts")
	if err != nil {
		return nil, "", err
	}
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return nil, "", usagef("contracts: %v", err)
	}
	id, _, _ := strings.Cut(name, "@")
	var known []string
	for _, e := range entries {
		if e.IsDir() {
			known = append(known, e.Name())
		}
	}
	if !slices.Contains(known, id) {
		return nil, "", usagef("no contract %q.%s There are: %s.", name, didYouMean(id, known), strings.Join(known, ", "))
	}
	return fsys, path.Join(dir, id), nil
}

// gateFacts is what the gate has to know of one contract, or of all where no name
// is given.
func (d *deployed) gateFacts(name string) (map[string]certificate.Contract, error) {
	if name == "" {
		fsys, dir, err := folder(d.contractsDir, "contracts")
		if err != nil {
			return nil, err
		}
		all, err := certificate.ReadContracts(fsys, dir)
		if err != nil {
			return nil, usagef("%v", err)
		}
		return all, nil
	}
	fsys, dir, err := d.contractAt(name)
	if err != nil {
		return nil, err
	}
	c, err := certificate.ReadContract(fsys, dir)
	if err != nil {
		return nil, usagef("%v", err)
	}
	return map[string]certificate.Contract{c.ID: c}, nil
}

// contract loads one contract as a whole.
func (d *deployed) contract(name string) (*contract.Contract, certificate.Contract, error) {
	fsys, dir, err := d.contractAt(name)
	if err != nil {
		return nil, certificate.Contract{}, err
	}
	c, err := contract.Load(fsys, dir)
	if err != nil {
		return nil, certificate.Contract{}, usagef("%v", err)
	}
	facts, err := certificate.ReadContract(fsys, dir)
	if err != nil {
		return nil, certificate.Contract{}, usagef("%v", err)
	}
	return c, facts, nil
}
