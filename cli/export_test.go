package cli

import "github.com/spf13/cobra"

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
