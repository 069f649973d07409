package cli

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/mutant"
)

// Step shows events one at a time to who types in.
func Step(in io.Reader, out io.Writer, name string, events []history.Event, findings []invariant.Finding) error {
	return (&stepper{in: in, out: out}).show(name, events, findings)
}

// CommandPaths lists the commands that do something, such as "prompt render",
// for tests that must leave none out.
func CommandPaths() []string {
	var paths []string
	var walk func(*cobra.Command, string)
	walk = func(c *cobra.Command, path string) {
		if !c.HasSubCommands() || c.Name() == "report" {
			paths = append(paths, path)
		}
		for _, below := range c.Commands() {
			walk(below, path+" "+below.Name())
		}
	}
	root := rootCommand(&streams{})
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		walk(c, c.Name())
	}
	return paths
}

// PlayMutants plays mutants one after the other ("" is the clean service), each of
// which violates what play says, and returns those that were played.
func PlayMutants(ctx context.Context, failFast bool, names []string, play func(name string) string) (played []string, err error) {
	var tasks []task
	for _, name := range names {
		tasks = append(tasks, task{mutant: name})
	}
	m := &mutation{s: &streams{err: io.Discard}, failFast: failFast}
	_, err = m.playAll(ctx, tasks, 1, &line{}, func(_ context.Context, t task) ([]mutant.Played, error) {
		played = append(played, t.mutant)
		return []mutant.Played{{Mutant: t.mutant, Violated: []string{play(t.mutant)}}}, nil
	})
	return played, err
}
