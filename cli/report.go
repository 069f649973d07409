package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/report"
)

func reportCommand(s *streams) *cobra.Command {
	var check, github bool
	var trust, perfetto, otlp string
	var page reportPage
	cmd := &cobra.Command{
		Use:   "report DIR|BUNDLE",
		Short: "what a run of verify found, and whether its evidence agrees",
		Long: `Shows the result that DIR holds. With --check every verdict is computed anew from
the stored history and compared with the report.

A BUNDLE is what certify --bundle wrote: every transcript of it is judged anew, all
checks run over them, and what comes out is compared with what the bundle and its
certificate state.

With --compare the run is put beside an earlier one: verdicts, violations, times. With --html the
page is written anew, with what --compare, --with and --certs add to it.

With --github the exit code is that of the run, as verify --github gave it.

exit 0 they agree, 1 they do not or the run is worse, 2 there is nothing to compute, 3 a file cannot be read`,
		Example: `  interlock report interlock-out/latest
  interlock report interlock-out/latest --open
  interlock report interlock-out/latest --check
  interlock report interlock-out/latest --compare last-week
  interlock report interlock-out/latest --html all.html --with mutants-out,certify-out --certs certificates
  interlock report interlock-out/latest --perfetto trace.json --otlp traces.jsonl`,
		Args: exactly(1, "a report folder or bundle"),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case page.open && s.noInput:
				return usagef("--open and --no-input contradict each other: leave one of them out")
			case page.open && (check || github || s.json):
				return usagef("--open is for a person, and --check, --github and --json are for programs: give it by itself")
			case github && (check || s.json || page.asked() || perfetto != "" || otlp != ""):
				return usagef("--github tells GitHub Actions of the run, and nothing else: give it by itself")
			}
			if info, err := os.Stat(args[0]); err == nil && info.Mode().IsRegular() {
				if page.open || github {
					return usagef("%s is a bundle: --open and --github are for the folder of a run", shellWord(args[0]))
				}
				if page.asked() {
					return usagef("%s is a bundle: --compare and --html are for the folder of a run", shellWord(args[0]))
				}
				return reportBundle(s, args[0], check, trust)
			}
			if trust != "" {
				return usagef("--trust goes with a bundle")
			}
			if _, err := os.Stat(args[0]); err != nil {
				return usagef("there is no report folder %s; interlock verify writes one into interlock-out", args[0])
			}
			if perfetto != "" || otlp != "" {
				return exportReport(s, args[0], perfetto, otlp)
			}
			if page.asked() {
				if check {
					return usagef("--check computes verdicts anew and shows no page: give it by itself")
				}
				if err := page.run(s, args[0]); err != nil || !page.open {
					return err
				}
				return openPage(cmd.Context(), cmp.Or(page.html, filepath.Join(args[0], report.HTMLFile)))
			}
			switch {
			case check:
				return checkReport(s, args[0])
			case github:
				return reportToGitHub(s, args[0])
			}
			if err := showReport(s, args[0]); err != nil || !page.open {
				return err
			}
			return openPage(cmd.Context(), filepath.Join(args[0], report.HTMLFile))
		},
	}
	cmd.AddCommand(mergeCommand(s))
	page.flags(cmd)
	cmd.Flags().BoolVar(&check, "check", false, "compute the verdicts anew from the stored history")
	cmd.Flags().BoolVar(&github, "github", false, "tell GitHub Actions of the run: annotations, step summary, outputs")
	cmd.Flags().StringVar(&perfetto, "perfetto", "", "write the run as a trace for ui.perfetto.dev into this file")
	cmd.Flags().StringVar(&otlp, "otlp", "", "write the run as OpenTelemetry JSON lines into this file, a trace for each job")
	cmd.Flags().StringVar(&trust, "trust", "", "with a bundle: the trust file that says whose keys to believe")
	return cmd
}

// openPage asks the desktop to show a page that lies on the disk.
func openPage(ctx context.Context, file string) error {
	path, err := filepath.Abs(file)
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		return infrastructuref("there is no page %s; interlock report FOLDER --html FILE writes one", shellWord(file))
	}
	page := url.URL{Scheme: "file", Path: filepath.ToSlash(path)}
	if err := browse(ctx, page.String()); err != nil {
		return infrastructuref("no browser could be opened (%v): open %s by hand", err, shellWord(path))
	}
	return nil
}

// reportToGitHub tells GitHub Actions what verify --github would have told it.
func reportToGitHub(s *streams, dir string) error {
	stored, err := report.Load(dir)
	if err != nil {
		return infrastructuref("%v", err)
	}
	events, err := report.ReadHistory(dir)
	if err != nil {
		return infrastructuref("%v", err)
	}
	if err := tellGitHub(s.out, &stored.Run, dir, events); err != nil {
		return infrastructuref("tell GitHub: %v", err)
	}
	return exitWith(stored.ExitCode)
}

func showReport(s *streams, dir string) error {
	stored, err := report.Load(dir)
	if err != nil {
		return infrastructuref("%v", err)
	}
	if s.json {
		return json.NewEncoder(s.out).Encode(stored)
	}
	_, err = fmt.Fprint(s.out, stored.Run.Summary(report.Places{HTML: filepath.Join(dir, report.HTMLFile)}, report.Style{Color: s.colored(s.out)}))
	return err
}

// exportReport writes the run of dir in forms that other tools read.
func exportReport(s *streams, dir, perfetto, otlp string) error {
	stored, err := report.Load(dir)
	if err != nil {
		return infrastructuref("%v", err)
	}
	all, err := history.ReadFile(filepath.Join(dir, report.HistoryFile))
	if err != nil {
		return infrastructuref("%v", err)
	}
	for _, export := range []struct {
		file  string
		write func(io.Writer, *report.Run, []history.Event) error
	}{{perfetto, report.Perfetto}, {otlp, report.OTLP}} {
		if export.file == "" {
			continue
		}
		var text bytes.Buffer
		if err := export.write(&text, &stored.Run, all); err != nil {
			return infrastructuref("%v", err)
		}
		if err := report.WriteFile(export.file, text.Bytes()); err != nil {
			return infrastructuref("%v", err)
		}
		_, _ = fmt.Fprintln(s.out, export.file)
	}
	return nil
}

func checkReport(s *streams, dir string) error {
	checked, err := report.Check(dir)
	if err != nil {
		return infrastructuref("%v", err)
	}
	if s.json {
		err := json.NewEncoder(s.out).Encode(struct {
			Verdict  string   `json:"verdict"`
			Plays    int      `json:"plays"`
			Problems []string `json:"problems"`
		}{string(checked.Verdict), checked.Plays, checked.Problems})
		if err != nil {
			return infrastructuref("write: %v", err)
		}
		return exitWith(report.ExitCode(checked.Verdict))
	}
	for _, problem := range checked.Problems {
		_, _ = fmt.Fprintln(s.out, "  ✗ "+printable(problem))
	}
	_, _ = fmt.Fprintf(s.out, "%d plays judged anew from %s: %s\n", checked.Plays, printable(filepath.Join(dir, report.HistoryFile)), checked.Verdict)
	return exitWith(report.ExitCode(checked.Verdict))
}
