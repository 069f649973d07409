package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/interlock-harness/interlock/console"
)

// up is one invocation of up.
type up struct {
	s       *streams
	port    string
	seed    string
	open    bool
	keep    bool
	servers serverFlags
}

func upCommand(s *streams) *cobra.Command {
	u := &up{s: s}
	cmd := &cobra.Command{
		Use:   "up",
		Short: "watch a race in the browser: a console over a stage of its own",
		Long: `Sets a stage (private PostgreSQL, two API replicas behind a balancer, a worker,
stand-in providers, faults on every edge) and serves pages on 127.0.0.1 on which
jobs are clicked, broken and watched. Ctrl-C takes everything down.`,
		Example: `  interlock up
  interlock up --open
  interlock up --port 9000 --seed 7`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return u.run(cmd.Context()) },
	}
	flags := cmd.Flags()
	flags.StringVar(&u.port, "port", "8787", "port on 127.0.0.1; where it is taken the next free one")
	flags.StringVar(&u.seed, "seed", "7", "seed of keys, samples and the runs that are started from the console")
	flags.BoolVar(&u.open, "open", false, "open the browser")
	flags.BoolVar(&u.keep, "keep", false, "leave the demo database behind at the end")
	u.servers.postgres(cmd)
	u.servers.proxy(cmd)
	return cmd
}

func (u *up) run(ctx context.Context) error {
	port, err := strconv.Atoi(u.port)
	if err != nil || port < 0 || port > 65535 {
		return usagef("--port is %q, but must be a whole number from 0 (any free port) to 65535", u.port)
	}
	seed, err := parseSeed(u.seed)
	if err != nil {
		return err
	}
	if u.open && u.s.noInput {
		return usagef("--open and --no-input contradict each other: leave one of them out")
	}
	if err := u.servers.check(); err != nil {
		return err
	}
	progress := u.s.progress()
	progress.set("setting the stage")
	c, err := console.Start(ctx, console.Options{
		Port: port, Seed: seed, Runs: outFolder, Keep: u.keep, PGURL: u.servers.databaseURL(), Toxiproxy: u.servers.toxiproxy,
		Note: func(text string) {
			progress.clear()
			u.say("%s", text)
		},
	})
	progress.clear()
	if errors.Is(err, context.Canceled) {
		return err
	}
	if err != nil {
		return brokenOff(ctx, "the console could not be started: %v. interlock doctor says what this machine has", err)
	}
	closing := u.stay(ctx, c)
	if err := c.Close(); err != nil {
		return infrastructuref("the console left something behind: %v", err)
	}
	u.say("%s", c.Farewell())
	return closing
}

// stay says where the console is and waits for the signal that ends it.
func (u *up) stay(ctx context.Context, c *console.Console) error {
	if u.s.json {
		if err := json.NewEncoder(u.s.out).Encode(map[string]string{"type": "console", "url": c.URL(), "address": c.Address()}); err != nil {
			return infrastructuref("write: %v", err)
		}
	} else if _, err := fmt.Fprintln(u.s.out, c.URL()); err != nil {
		return infrastructuref("write: %v", err)
	}
	u.say("%s. Ctrl-C takes everything down.", c.Describe())
	if u.open {
		if err := browse(ctx, c.URL()); err != nil {
			u.say("no browser could be opened (%v): open the address by hand", err)
		}
	}
	<-ctx.Done()
	return nil
}

func (u *up) say(format string, args ...any) {
	if !u.s.quiet {
		_, _ = fmt.Fprintln(u.s.err, printable(fmt.Sprintf(format, args...)))
	}
}

// browse asks the desktop to open a page.
func browse(ctx context.Context, url string) error {
	name := "xdg-open"
	if runtime.GOOS == "darwin" {
		name = "open"
	}
	return exec.CommandContext(ctx, name, url).Run()
}
