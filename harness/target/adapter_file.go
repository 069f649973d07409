package target

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/providers/strictyaml"
)

// LoadAdapter reads an adapter file.
func LoadAdapter(file string) (*Adapter, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("adapter: %w", err)
	}
	return parseAdapter(file, text)
}

// ParseAdapter reads an adapter that is not in a file.
func ParseAdapter(text []byte) (*Adapter, error) { return parseAdapter("adapter", text) }

func parseAdapter(file string, text []byte) (*Adapter, error) {
	a := &Adapter{}
	if err := strictyaml.Decode(file, text, a); err != nil {
		return nil, err
	}
	if err := a.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return a, nil
}

// The contract's own words, which an adapter may map to.
var (
	statuses = []string{"open", "starting", "running", "unknown", "succeeded", "failed", "cancelled"}
	states   = []string{"starting", "running", "unknown", "released", "succeeded", "lost", "failed", "cancelled"}
	tables   = []string{history.TableJobs, history.TableAttempts, history.TableEvents, history.TableRaces}
	lists    = []string{history.OpList, history.OpAttempts, history.OpEvents, history.OpRaces}
)

// The commands that an adapter names.
const (
	CommandStart = "start"
	CommandStop  = "stop"
	CommandKill  = "kill"
)

// Commands lists them: level L3 needs all.
func Commands() []string { return []string{CommandStart, CommandStop, CommandKill} }

// Bounds of what an adapter may say about time.
const (
	commandTimeout     = 10 * time.Second
	leastCommandTime   = 100 * time.Millisecond
	longestCommandTime = 25 * time.Second
	longestLease       = 30 * time.Second
)

// check finds what is well-formed and means nothing.
func (a *Adapter) check() error {
	for op, spec := range a.Paths {
		if contractPaths[op] == "" {
			return fmt.Errorf("paths: there is no operation %q", op)
		}
		method, path, ok := strings.Cut(spec, " ")
		if spec != "-" && (!ok || method != strings.ToUpper(method) || !strings.HasPrefix(path, "/")) {
			return fmt.Errorf("paths: %s must look like METHOD /path, or be - where the target has none", op)
		}
	}
	if a.Submit != "" && !named(a.Submit) {
		return fmt.Errorf("submit: the body must hold %s once, or %s", intentPlace, place("input"))
	}
	for _, fields := range []map[string]string{a.Fields, a.AttemptFields, a.Lists, a.ProblemFields} {
		for name, pointer := range fields {
			if !strings.HasPrefix(pointer, "/") {
				return fmt.Errorf("%s: %q is no JSON pointer, which begins with /", name, pointer)
			}
		}
	}
	if a.ConflictStatus != 0 && a.ConflictStatus != 409 && a.ConflictStatus != 422 {
		return fmt.Errorf("conflict_status: must be 409 or 422, not %d", a.ConflictStatus)
	}
	for _, c := range []struct {
		name    string
		words   map[string]string
		allowed []string
	}{{"statuses", a.Statuses, statuses}, {"states", a.States, states}} {
		for own, word := range c.words {
			if !slices.Contains(c.allowed, word) {
				return fmt.Errorf("%s: %q stands for %q, which is none of %s", c.name, own, word, strings.Join(c.allowed, ", "))
			}
		}
	}
	for name := range a.Rows {
		if !slices.Contains(tables, name) {
			return fmt.Errorf("rows: there is no table %q, only %s", name, strings.Join(tables, ", "))
		}
	}
	for op := range a.Lists {
		if !slices.Contains(lists, op) {
			return fmt.Errorf("lists: %q lists nothing, only %s", op, strings.Join(lists, ", "))
		}
	}
	for name, command := range a.Commands {
		if !slices.Contains(Commands(), name) || len(command) == 0 || command[0] == "" {
			return fmt.Errorf("commands: %q must be start, stop or kill, with a list of a program and its arguments", name)
		}
	}
	if a.Ready != "" && !strings.HasPrefix(a.Ready, "/") {
		return fmt.Errorf("ready: %q is no path, which begins with /", a.Ready)
	}
	if a.CommandTimeoutMS != 0 && (a.CommandTimeout() < leastCommandTime || a.CommandTimeout() > longestCommandTime) {
		return fmt.Errorf("command_timeout_ms: must be from %d to %d, not %d", leastCommandTime.Milliseconds(), longestCommandTime.Milliseconds(), a.CommandTimeoutMS)
	}
	if a.LeaseMS < 0 || a.Lease() > longestLease {
		return fmt.Errorf("lease_ms: must be from 0 to %d, not %d", longestLease.Milliseconds(), a.LeaseMS)
	}
	return nil
}
