package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/contract"
	"github.com/interlock-harness/interlock/providers/fixtures"
	"github.com/interlock-harness/interlock/providers/wire"
)

const contractFile = "contract.yaml"

func contractCommand(s *streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "contract",
		Short:   "look over contracts",
		Example: "  interlock contract lint contracts",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("no command %q.%s %s --help shows all.", args[0], didYouMean(args[0], commandNames(cmd)), cmd.CommandPath())
			}
			return usagef("contract needs lint; interlock contract --help shows it")
		},
		RunE: func(*cobra.Command, []string) error { return nil },
	}
	cmd.AddCommand(contractLintCommand(s))
	return cmd
}

func contractLintCommand(s *streams) *cobra.Command {
	var protocols []string
	cmd := &cobra.Command{
		Use:   "lint [FOLDER...]",
		Short: "is a contract sound, and what of it can a protocol enforce?",
		Long: `Reads each contract as the service does, and names what loads and is still likely
wrong. A FOLDER is that of one contract or one that holds several; without any,
the built-in contracts are looked over. With --protocol it also names what that
protocol cannot hold a provider to.

Exit codes: 0 nothing to say; 1 findings; 64 a contract does not load.`,
		Example: "  interlock contract lint contracts/invoice\n  interlock contract lint --protocol gemini",
		Args:    cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			for _, p := range protocols {
				if _, err := wire.For(providers.Protocol(p)); err != nil {
					return usagef("there is no protocol %q.%s", p, didYouMean(p, protocolNames()))
				}
			}
			return lintContracts(s, args, protocols)
		},
	}
	cmd.Flags().StringSliceVar(&protocols, "protocol", nil, "also what this protocol cannot enforce")
	return cmd
}

func protocolNames() []string {
	var names []string
	for _, p := range wire.Protocols() {
		names = append(names, string(p))
	}
	return names
}

// finding is one line of --json.
type finding struct {
	File     string             `json:"file"`
	Place    string             `json:"place,omitempty"`
	Protocol providers.Protocol `json:"protocol,omitempty"`
	Text     string             `json:"text"`
}

func lintContracts(s *streams, args, protocols []string) error {
	total, looked := 0, 0
	lint := func(fsys fs.FS, dir, shown string) error {
		c, list, err := contract.Lint(fsys, dir)
		if err != nil {
			return usagef("%s%v", shown, err)
		}
		for _, p := range protocols {
			list = append(list, c.LintFor(providers.Protocol(p))...)
		}
		looked++
		total += len(list)
		for _, f := range list {
			if path.Dir(f.File) == "." {
				f.File = path.Join(dir, f.File)
			}
			if err := s.tellFinding(finding{shown + f.File, f.Place, f.Protocol, f.Text}); err != nil {
				return err
			}
		}
		return nil
	}
	if len(args) == 0 {
		if err := eachContract(fixtures.FS, "contracts", func(dir string) error { return lint(fixtures.FS, dir, "") }); err != nil {
			return err
		}
	}
	for _, name := range args {
		if err := lintFolder(name, lint); err != nil {
			return err
		}
	}
	if !s.json && !s.quiet {
		_, _ = fmt.Fprintf(s.err, "%d contracts, %d findings\n", looked, total)
	}
	if total > 0 {
		return exitWith(ExitViolation)
	}
	return nil
}

// lintFolder opens the folder above name as a root, so that no link leads out of it.
func lintFolder(name string, lint func(fs.FS, string, string) error) error {
	whole, err := filepath.Abs(name)
	if err != nil {
		return infrastructuref("%s: %v", name, err)
	}
	root, err := os.OpenRoot(filepath.Dir(whole))
	if err != nil {
		return usagef("there is no folder %s", name)
	}
	defer func() { _ = root.Close() }()
	dir := filepath.Base(whole)
	if info, err := fs.Stat(root.FS(), dir); err != nil || !info.IsDir() {
		return usagef("%s is no folder", name)
	}
	shown := filepath.Dir(filepath.Clean(name)) + string(filepath.Separator)
	if shown == "./" {
		shown = ""
	}
	return eachContract(root.FS(), dir, func(dir string) error { return lint(root.FS(), dir, shown) })
}

// eachContract calls f for dir if it is the folder of a contract, else for each
// folder in it.
func eachContract(fsys fs.FS, dir string, f func(string) error) error {
	if _, err := fs.Stat(fsys, path.Join(dir, contractFile)); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return f(dir)
	}
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return infrastructuref("%s cannot be read: %v", dir, err)
	}
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return !e.IsDir() })
	if len(entries) == 0 {
		return usagef("%s holds no %s and no folder of a contract", dir, contractFile)
	}
	for _, e := range entries {
		if err := f(path.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

func (s *streams) tellFinding(f finding) error {
	if s.json {
		data, err := json.Marshal(f)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(s.out, "%s\n", data)
		return err
	}
	where := f.File
	if f.Place != "" {
		where += " " + f.Place
	}
	_, err := fmt.Fprintf(s.out, "%s: %s\n", printable(where), printable(f.Text))
	return err
}
