package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/contract"
	"github.com/interlock-harness/interlock/providers/exchange"
	"github.com/interlock-harness/interlock/providers/fixtures"
)

// besideName is the contract that stands beside recorded exchanges.
const besideName = "_contract.json"

const judgeHelp = `Would these recorded answers have passed?

Each file holds one exchange: what was asked, and status, headers and body (or the
lines of a stream) of what came back. It is judged under the contract of
--contract-file, else under _contract.json beside it, else under the deployed
contract that it names. A file called _contract.json is never an exchange.

For each exchange: the verdict (accept, reject, definite_failure, unknown), the
reason, and the place of the fault. With --json one object a line: file, id,
verdict, reason, place, detail.

Exit codes: 0 all accepted; 1 at least one rejected or failed; 2 otherwise, at
least one unknown; 3 a file could not be read; 64 a file is no exchange or no
contract. With --check an exchange is right when it gets the verdict and the
family of the reason that it expects: 0 all are right, 1 one is not.`

func judgeCommand(s *streams) *cobra.Command {
	var file string
	var check bool
	cmd := &cobra.Command{
		Use:     "judge EXCHANGE.json...",
		Short:   "would this recorded answer have passed?",
		Long:    judgeHelp,
		Example: "  interlock judge answer.json\n  interlock judge --json exchanges/*.json\n  interlock judge --contract-file mine.json answer.json",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("judge needs at least one EXCHANGE.json, or - for standard input")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			return (&judging{streams: s, file: file, check: check, beside: map[string]*contract.Contract{}}).run(args)
		},
	}
	cmd.Flags().StringVar(&file, "contract-file", "", "judge under the contract in this file")
	cmd.Flags().BoolVar(&check, "check", false, "compare with what each exchange expects")
	return cmd
}

// judging is one run of the command.
type judging struct {
	*streams
	file  string
	check bool

	given    *contract.Contract
	beside   map[string]*contract.Contract // by folder; nil where there is none
	deployed map[string]*contract.Contract

	counts map[providers.Verdict]int
	wrong  int // with --check
	codes  map[int]bool
}

func (r *judging) run(args []string) error {
	if r.file != "" {
		c, err := readContract(r.file)
		if err != nil {
			return asExit(err)
		}
		r.given = c
	}
	r.counts, r.codes = map[providers.Verdict]int{}, map[int]bool{}
	for _, name := range args {
		if filepath.Base(name) == besideName {
			continue
		}
		if err := r.one(name); err != nil {
			err = asExit(err)
			r.codes[exitOf(err)] = true
			_, _ = fmt.Fprintln(r.err, "interlock: "+messageOf(err))
		}
	}
	return r.finish()
}

func (r *judging) one(name string) error {
	data, err := r.read(name)
	if err != nil {
		return err
	}
	x, err := exchange.Parse(name, data)
	if err != nil {
		return err
	}
	c, err := r.contractOf(name, x)
	if err != nil {
		return err
	}
	if x.Case != "" && c.Case(x.Case) == nil {
		return usagef("%s: contract %s has no case %q", name, c.Ref(), x.Case)
	}
	return r.tell(name, x, x.Judge(c))
}

func (r *judging) read(name string) ([]byte, error) {
	if name == "-" {
		data, err := io.ReadAll(io.LimitReader(r.in, exchange.MaxBytes+1))
		if err != nil {
			return nil, infrastructuref("standard input cannot be read: %v", err)
		}
		return data, nil
	}
	return readRegular(name)
}

// readRegular reads a file of bounded size that is neither a folder nor a pipe.
func readRegular(name string) ([]byte, error) {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, usagef("there is no file %s", name)
	case err != nil:
		return nil, infrastructuref("%s cannot be read: %v", name, errors.Unwrap(err))
	case info.IsDir():
		return nil, usagef("%s is a folder; name the files in it, such as %s", name, filepath.Join(name, "*.json"))
	case !info.Mode().IsRegular():
		return nil, usagef("%s is no regular file", name)
	case info.Size() > exchange.MaxBytes:
		return nil, usagef("%s has more than %d bytes", name, exchange.MaxBytes)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, infrastructuref("%s cannot be read: %v", name, errors.Unwrap(err))
	}
	return data, nil
}

func readContract(name string) (*contract.Contract, error) {
	data, err := readRegular(name)
	if err != nil {
		return nil, err
	}
	return contract.Parse(name, data)
}

// contractOf finds the contract of an exchange: the file that was given, the file
// beside it, the deployed one that it names.
func (r *judging) contractOf(name string, x *exchange.Exchange) (*contract.Contract, error) {
	if r.given != nil {
		return r.given, nil
	}
	folder := filepath.Dir(name)
	c, known := r.beside[folder]
	if !known {
		file := filepath.Join(folder, besideName)
		if _, err := os.Stat(file); err == nil {
			if c, err = readContract(file); err != nil {
				return nil, err
			}
		}
		r.beside[folder] = c
	}
	if c != nil {
		return c, nil
	}
	if r.deployed == nil {
		all, err := contract.LoadAll(fixtures.FS, "contracts")
		if err != nil {
			return nil, err
		}
		r.deployed = all
	}
	id, version, _ := strings.Cut(x.Contract, "@")
	c = r.deployed[id]
	switch {
	case x.Contract == "":
		return nil, usagef("%s names no contract; give --contract-file, or put a %s beside it", name, besideName)
	case c == nil:
		return nil, usagef("%s names contract %q, which is not deployed; give --contract-file, or put a %s beside it", name, id, besideName)
	case version != "" && version != c.Version:
		return nil, usagef("%s names contract %s, deployed is %s", name, x.Contract, c.Ref())
	}
	return c, nil
}

// judged is one line of --json.
type judged struct {
	File    string            `json:"file"`
	ID      string            `json:"id"`
	Verdict providers.Verdict `json:"verdict"`
	Reason  string            `json:"reason"`
	Place   string            `json:"place"`
	Detail  string            `json:"detail,omitempty"`
	Expect  string            `json:"expect,omitempty"` // with --check, where it differs
}

func (r *judging) tell(name string, x *exchange.Exchange, j providers.Judgement) error {
	r.counts[j.Verdict]++
	line := judged{File: name, ID: x.ID, Verdict: j.Verdict, Reason: j.Reason, Place: j.Place, Detail: j.Detail}
	if r.check {
		if x.Expect == nil {
			return usagef("%s expects nothing, so --check has nothing to compare", name)
		}
		if !x.Expect.Met(j) {
			r.wrong++
			line.Expect = string(x.Expect.Verdict) + " " + x.Expect.Reason
		}
	}
	if r.json {
		data, err := json.Marshal(line)
		if err != nil {
			return err
		}
		if _, err = fmt.Fprintf(r.out, "%s\n", data); err != nil {
			return infrastructuref("write: %v", err)
		}
		return nil
	}
	text := fmt.Sprintf("%-16s %-26s %s", j.Verdict, j.Reason, printable(name))
	if j.Reason != "ok" && !r.quiet {
		text += fmt.Sprintf("\n    at %s: %s", printable(j.Place), printable(j.Detail))
	}
	if line.Expect != "" {
		text += "\n    expected " + printable(line.Expect)
	}
	if _, err := fmt.Fprintln(r.out, text); err != nil {
		return infrastructuref("write: %v", err)
	}
	return nil
}

// finish sums up and picks the exit code.
func (r *judging) finish() error {
	total := 0
	for _, n := range r.counts {
		total += n
	}
	if total > 1 && !r.json && !r.quiet {
		_, _ = fmt.Fprintf(r.err, "%d exchanges: %d accepted, %d rejected, %d failed, %d unknown\n", total,
			r.counts[providers.Accept], r.counts[providers.Reject], r.counts[providers.DefiniteFailure], r.counts[providers.Unknown])
	}
	if total == 0 && len(r.codes) == 0 {
		return usagef("%s is the contract, and there is no exchange among the files", besideName)
	}
	bad := r.counts[providers.Reject]+r.counts[providers.DefiniteFailure] > 0
	switch {
	case r.codes[ExitUsage]:
		return exitWith(ExitUsage)
	case r.check && r.wrong > 0:
		return exitWith(ExitViolation)
	case !r.check && bad:
		return exitWith(ExitViolation)
	case r.codes[ExitInfrastructure]:
		return exitWith(ExitInfrastructure)
	case !r.check && r.counts[providers.Unknown] > 0:
		return exitWith(ExitInconclusive)
	}
	return nil
}

// asExit gives errors of the packages below the code for wrong input.
func asExit(err error) error {
	var coded *exitError
	if errors.As(err, &coded) {
		return err
	}
	return usagef("%v", err)
}

func exitOf(err error) int {
	var coded *exitError
	if errors.As(err, &coded) {
		return coded.code
	}
	return ExitUsage
}
