package cli

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// manCommand writes the manual pages that a release carries. It is hidden: who
// has the program has its help.
func manCommand(s *streams) *cobra.Command {
	return &cobra.Command{
		Use:     "man DIR",
		Short:   "write a manual page for each command into a folder",
		Example: "  interlock man share/man/man1",
		Hidden:  true,
		Args:    exactly(1, "a folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return infrastructuref("%v; choose a folder that can be written to", err)
			}
			if err := writeMan(cmd.Root(), args[0]); err != nil {
				return infrastructuref("%v", err)
			}
			return s.told(map[string]any{"type": "man", "folder": args[0]}, args[0])
		},
	}
}

// writeMan writes the page of a command and those below it.
func writeMan(cmd *cobra.Command, dir string) error {
	if cmd.Hidden || !cmd.IsAvailableCommand() && cmd.HasParent() {
		return nil
	}
	for _, below := range cmd.Commands() {
		if err := writeMan(below, dir); err != nil {
			return err
		}
	}
	date := time.Unix(0, 0).UTC() // the day of the commit, so that a build can be made again byte for byte
	if built, ok := buildTime(); ok {
		date = built
	}
	cmd.DisableAutoGenTag = true
	header := &doc.GenManHeader{Title: strings.ToUpper(strings.ReplaceAll(cmd.CommandPath(), " ", "-")), Section: "1", Date: &date, Source: "interlock " + version, Manual: "Interlock"}
	var page strings.Builder
	if err := doc.GenMan(cmd, header, &page); err != nil {
		return err
	}
	return writeWhole(filepath.Join(dir, strings.ReplaceAll(cmd.CommandPath(), " ", "-")+".1"), []byte(page.String()), 0o644)
}
