package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/interlock-harness/interlock/providers/certify"
	"github.com/interlock-harness/interlock/providers/recording"
)

// recordingsFolder is where recordings go and are looked for unless told otherwise.
const recordingsFolder = "recordings"

// recordRun is one invocation of record.
type recordRun struct {
	certification
	dir string
	yes bool
}

func recordCommand(s *streams) *cobra.Command {
	c := &recordRun{certification: certification{s: s, live: true}}
	cmd := &cobra.Command{
		Use:   "record PROVIDER --contract CONTRACT",
		Short: "keep what a provider answers, to play it again byte for byte",
		Long: `Asks the provider itself what a certification under the contract would ask, each
request once, and keeps every answer: status, the headers of a short list, the
body, and when each piece of it came. The key is read from the environment variable
that the profile names and is written nowhere; an answer that looks as if it held a
credential is refused, and nothing is written then. What was answered before a
signal or the end of --timeout is kept.

interlock certify PROVIDER --recorded plays the recordings again.

exit 0 recorded, 3 provider unreachable, 64 refused`,
		Example: "  interlock record openai --model gpt-x --contract invoice --max-calls 60",
		Args:    exactly(1, "PROVIDER"),
		RunE:    func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), args[0]) },
	}
	f := cmd.Flags()
	f.StringVar(&c.contractName, "contract", "", "id of the contract")
	f.StringVar(&c.model, "model", "", "ask this model instead of the profile's")
	f.StringSliceVar(&c.only, "case", nil, "only these cases (default: all)")
	f.IntVar(&c.maxCalls, "max-calls", 20, "send at most so many requests")
	f.IntVar(&c.parallel, "parallel", 1, "requests at once")
	f.StringVar(&c.timeout, "timeout", "10m", "give up after this time")
	f.StringVar(&c.dir, "out", recordingsFolder, "folder for the recordings")
	f.BoolVar(&c.yes, "yes", false, "do not ask before the first request")
	c.deployed.flags(cmd)
	return cmd
}

func (c *recordRun) run(ctx context.Context, name string) error {
	limit, err := parseTimeout(c.timeout)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if c.contractName == "" {
		return usagef("record needs --contract; interlock record --help shows an example")
	}
	if c.maxCalls < 1 {
		return usagef("--max-calls is at least 1")
	}
	if err := c.prepare(name); err != nil {
		return err
	}
	o, err := c.options()
	if err != nil {
		return err
	}
	o.MaxCalls = 0 // the list is cut here, and needs no certificate
	calls, err := certify.Recordable(o)
	if err != nil {
		return usagef("%v", err)
	}
	whole := len(calls)
	calls = calls[:min(whole, c.maxCalls)]
	if err := c.free(); err != nil {
		return err
	}
	if err := c.agreed(fmt.Sprintf("%s of the %d of the plan go to %s, each once.", plural(len(calls), "request"), whole, c.profile.Name)); err != nil {
		return err
	}
	progress := c.s.progress()
	o.Progress = func(done, all int) { progress.set(fmt.Sprintf("%d/%d requests", done, all)) }
	var kept []recording.Recording
	err = certify.Record(ctx, o, calls, func(r recording.Recording) error { kept = append(kept, r); return nil })
	progress.clear()
	switch {
	case errors.Is(err, recording.ErrSecret):
		return usagef("%v; nothing was written", err)
	case err != nil && ctx.Err() != nil:
		if err := c.keepSome(ctx, kept, len(calls)); err != nil {
			return err
		}
		return c.failed(ctx, err)
	case err != nil:
		return c.failed(ctx, err)
	}
	return c.store(kept)
}

// keepSome stores what had been answered when a signal or the end of the time came:
// each recording is whole, and may have cost money.
func (c *recordRun) keepSome(ctx context.Context, kept []recording.Recording, of int) error {
	if len(kept) == 0 {
		_, _ = fmt.Fprintf(c.s.err, "%s: no recording was stored.\n", endWord(ctx))
		return nil
	}
	if err := c.write(kept); err != nil {
		return err
	}
	_, _ = fmt.Fprintf(c.s.err, "%s: %d of %s were answered; their recordings are in %s.\n",
		endWord(ctx), len(kept), plural(of, "request"), shellWord(filepath.Join(c.dir, c.profile.Name)))
	return nil
}

func (c *recordRun) write(kept []recording.Recording) error {
	for _, r := range kept {
		if _, err := recording.Write(c.dir, r); err != nil {
			return infrastructuref("write recordings: %v", err)
		}
	}
	return nil
}

// free refuses a folder that holds recordings of the provider already.
func (c *recordRun) free() error {
	dir := filepath.Join(c.dir, c.profile.Name)
	if _, err := os.Lstat(dir); err == nil {
		return usagef("%s holds recordings already; choose another --out or remove them", shellWord(dir))
	}
	return nil
}

// agreed asks before anything is sent.
func (c *recordRun) agreed(what string) error {
	if c.yes {
		return nil
	}
	if !c.s.asks() {
		return usagef("%s Nobody can be asked here: add --yes", what)
	}
	_, _ = fmt.Fprintf(c.s.err, "%s Go on? [y/N] ", what)
	answer, _ := bufio.NewReader(c.s.in).ReadString('\n')
	if a := strings.ToLower(strings.TrimSpace(answer)); a != "y" && a != "yes" {
		return usagef("nothing was sent")
	}
	return nil
}

func (c *recordRun) store(kept []recording.Recording) error {
	if err := c.write(kept); err != nil {
		return err
	}
	answered, redacted := 0, 0
	for _, r := range kept {
		if r.Status != 0 {
			answered++
		}
		if r.Redacted {
			redacted++
		}
	}
	if answered == 0 {
		return infrastructuref("no request was answered by %s", c.profile.Name)
	}
	if c.s.json {
		if err := json.NewEncoder(c.s.out).Encode(map[string]any{
			"type": "recorded", "provider": c.profile.Name, "contract": c.facts.Name(), "recordings": len(kept), "answered": answered,
			"redacted": redacted, "folder": filepath.Join(c.dir, c.profile.Name),
		}); err != nil {
			return infrastructuref("write: %v", err)
		}
		return nil
	}
	_, err := fmt.Fprintf(c.s.out, "%s of %s under %s, %d redacted: %s\nNext:   interlock certify %s --contract %s --recorded\n",
		plural(len(kept), "recording"), c.profile.Name, c.facts.Name(), redacted, shellWord(filepath.Join(c.dir, c.profile.Name)),
		shellWord(c.profile.Name), c.facts.ID)
	return err
}

// recordings reads those of the provider, if there are any.
func (c *certification) recordings() (*recording.Set, error) {
	dir := c.recordingsDir
	if dir == "" {
		dir = recordingsFolder
	}
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) && c.recordingsDir == "" {
		return nil, nil
	}
	if err != nil {
		return nil, usagef("--recordings %s is no folder", shellWord(dir))
	}
	defer func() { _ = root.Close() }()
	set, err := recording.Read(root.FS(), c.profile.Name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && c.recordingsDir == "":
		return nil, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, usagef("%s holds no recordings of %s", shellWord(dir), c.profile.Name)
	case err != nil:
		return nil, usagef("recordings: %v", err)
	}
	return set, nil
}
