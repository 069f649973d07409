package cli

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/stage"
	"github.com/interlock-harness/interlock/harness/target"
)

// targetFlags name a service that somebody else runs, and what of it can be seen.
type targetFlags struct {
	urls      []string
	adapter   string
	keys      string
	providers []string
	pgListen  string
	level     string
	mismatch  int
	linkLocal bool
}

func (f *targetFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringSliceVar(&f.urls, "target", nil, "judge the service at this URL instead of the built-in one; several for its replicas")
	flags.StringVar(&f.adapter, "adapter", "", "file that says how the target words the contract (docs/add-a-target.md)")
	flags.StringVar(&f.keys, "target-keys", "", "file of its API keys: lines NAME ROLE KEY, of at least two owners (INTERLOCK_TARGET_KEYS)")
	flags.StringSliceVar(&f.providers, "provider", nil, "NAME=HOST:PORT at which the target finds a provider; a stand-in listens there (level L1)")
	flags.StringVar(&f.pgListen, "target-pg-listen", "", "HOST:PORT at which the target finds the database of INTERLOCK_TARGET_PG_URL; a relay listens there (level L2)")
	flags.StringVar(&f.level, "level", "", "look no deeper into the target than L0, L1, L2 or L3 (default: as deep as the flags and the adapter allow)")
	flags.BoolVar(&f.linkLocal, "allow-link-local", false, "take a target at a link-local address, where clouds serve their metadata")
	flags.IntVar(&f.mismatch, "mismatch-status", 0, "409 or 422: what the target answers to one key under two intents (default: the adapter's, else 409)")
}

// foreign is the target that the flags name; nil for the built-in service.
func (f *targetFlags) foreign(cmd *cobra.Command) (*stage.Foreign, error) {
	if len(f.urls) == 0 {
		for _, name := range []string{"adapter", "target-keys", "provider", "target-pg-listen", "level", "mismatch-status", "allow-link-local"} {
			if cmd.Flags().Changed(name) {
				return nil, usagef("--%s says something about a target, and no --target is named", name)
			}
		}
		return nil, nil
	}
	t := &stage.Foreign{URLs: f.urls, Providers: map[string]string{}, PGListen: f.pgListen, Adapter: target.Contract(), AllowLinkLocal: f.linkLocal}
	if f.adapter != "" {
		a, err := target.LoadAdapter(f.adapter)
		if err != nil {
			return nil, usagef("%v", err)
		}
		t.Adapter = a
	}
	if f.mismatch != 0 {
		if f.mismatch != 409 && f.mismatch != 422 {
			return nil, usagef("--mismatch-status is %d, but must be 409 or 422", f.mismatch)
		}
		t.Adapter.ConflictStatus = f.mismatch
	}
	if err := f.readKeys(t); err != nil {
		return nil, err
	}
	for _, p := range f.providers {
		name, addr, ok := strings.Cut(p, "=")
		if !ok {
			return nil, usagef("--provider is %q, but must look like openai-demo=127.0.0.1:18081", p)
		}
		t.Providers[name] = addr
	}
	if t.PGListen != "" {
		t.PGURL = os.Getenv("INTERLOCK_TARGET_PG_URL")
	}
	if err := f.cap(t); err != nil {
		return nil, err
	}
	if err := t.Check(); err != nil {
		return nil, usagef("%v", err)
	}
	return t, nil
}

// cap leaves out what lies deeper than --level.
func (f *targetFlags) cap(t *stage.Foreign) error {
	if f.level == "" {
		return nil
	}
	level, err := invariant.ParseLevel(f.level)
	if err == nil && level == 4 {
		return usagef("--level L4 cannot be reached here: %s", stage.WhyNotL4)
	}
	if err != nil {
		return usagef("--level is %q, but must be L0, L1, L2 or L3", f.level)
	}
	if level < 3 && len(t.Adapter.Commands) > 0 {
		shallow := *t.Adapter
		shallow.Commands = nil
		t.Adapter = &shallow
	}
	if level < 2 {
		t.PGURL, t.PGListen = "", ""
	}
	if level < 1 {
		t.Providers = nil
	}
	if t.Level() < level {
		return usagef("--level %s needs more of the target: --provider for L1, --target-pg-listen with INTERLOCK_TARGET_PG_URL for L2, and commands in --adapter for L3", level)
	}
	return nil
}

// readKeys reads lines NAME ROLE KEY. Errors name the line and repeat nothing of
// it.
func (f *targetFlags) readKeys(t *stage.Foreign) error {
	path := f.keys
	if path == "" {
		path = os.Getenv("INTERLOCK_TARGET_KEYS")
	}
	if path == "" {
		return usagef("which API keys does the target take? --target-keys FILE, with lines NAME ROLE KEY where ROLE is owner or operator")
	}
	file, err := os.Open(path)
	if err != nil {
		return usagef("there is no file of keys %s", path)
	}
	defer func() { _ = file.Close() }()
	lines := bufio.NewScanner(file)
	for n := 1; lines.Scan(); n++ {
		words := strings.Fields(lines.Text())
		switch {
		case len(words) == 0 || strings.HasPrefix(words[0], "#"):
		case len(words) != 3 || words[1] != "owner" && words[1] != "operator":
			return usagef("%s:%d must be NAME ROLE KEY, where ROLE is owner or operator", path, n)
		case words[1] == "operator":
			t.Operator = stage.Credential{Owner: words[0], Key: words[2]}
		default:
			t.Owners = append(t.Owners, stage.Credential{Owner: words[0], Key: words[2]})
		}
	}
	if err := lines.Err(); err != nil {
		return usagef("%s cannot be read: %v", path, err)
	}
	return nil
}

// again are the flags that repeat the target in a command.
func (f *targetFlags) again() []string {
	var flags []string
	add := func(name, value string) {
		if value != "" {
			flags = append(flags, "--"+name, value)
		}
	}
	add("target", strings.Join(f.urls, ","))
	add("adapter", f.adapter)
	add("target-keys", f.keys)
	add("provider", strings.Join(f.providers, ","))
	add("target-pg-listen", f.pgListen)
	add("level", f.level)
	if f.linkLocal {
		flags = append(flags, "--allow-link-local")
	}
	if f.mismatch != 0 {
		add("mismatch-status", fmt.Sprint(f.mismatch))
	}
	return flags
}
