package cli

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/interlock-harness/interlock/service"
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
	page, err := manPage(cmd, date)
	if err != nil {
		return err
	}
	return writeWhole(filepath.Join(dir, strings.ReplaceAll(cmd.CommandPath(), " ", "-")+".1"), []byte(page), 0o644)
}

// paragraphs are flags as the library writes them: a line, and a tabulator before the
// text, which is no indentation in a manual page.
var paragraphs = regexp.MustCompile(`(?m)^(?:\.PP\n)?(\\fB.*)\n\t(.*)\n\n`)

// manPage is the manual page of a command.
func manPage(cmd *cobra.Command, date time.Time) (string, error) {
	if slices.ContainsFunc(serviceCommands, func(c serviceText) bool { return c.name == cmd.Name() }) {
		cmd = ownFlags(cmd)
	}
	cmd.DisableAutoGenTag = true
	header := &doc.GenManHeader{Title: strings.ToUpper(strings.ReplaceAll(cmd.CommandPath(), " ", "-")), Section: "1", Date: &date, Source: "interlock " + version, Manual: "Interlock"}
	var text strings.Builder
	if err := doc.GenMan(cmd, header, &text); err != nil {
		return "", err
	}
	page := strings.Replace(text.String(), date.Format(`"Jan 2006"`), date.Format(`"2006-01-02"`), 1)
	page = paragraphs.ReplaceAllString(page, ".TP\n$1\n$2\n")
	return strings.Replace(page, ".SH EXAMPLE\n", exitStatus()+".SH EXAMPLE\n", 1), nil
}

// ownFlags is a command of the service with the flags that it parses itself, and none
// of those that all others have.
func ownFlags(cmd *cobra.Command) *cobra.Command {
	root := &cobra.Command{Use: cmd.Root().Use, Short: cmd.Root().Short}
	own := &cobra.Command{Use: cmd.Use, Short: cmd.Short, Example: cmd.Example, Run: func(*cobra.Command, []string) {}}
	root.AddCommand(own)
	service.Flags(cmd.Name()).VisitAll(func(f *flag.Flag) {
		if own.Flags().AddGoFlag(f); f.Usage == "" {
			_ = own.Flags().MarkHidden(f.Name)
		}
	})
	return own
}

// exitStatus is the section that every page has: the codes are the same everywhere.
func exitStatus() string {
	var b strings.Builder
	b.WriteString(".SH EXIT STATUS\n")
	for _, w := range words {
		if w.Kind == "exit code" {
			_, _ = fmt.Fprintf(&b, ".TP\n\\fB%s\\fP\n%s\n", w.Name, strings.Join(w.Text, " "))
		}
	}
	b.WriteString("\n")
	return b.String()
}
