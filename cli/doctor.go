package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/interlock-harness/interlock/harness/browser"
	"github.com/interlock-harness/interlock/harness/stage/pgserver"
)

// diagnosis is what doctor says about one thing that a run needs.
type diagnosis struct {
	Name   string `json:"name"`
	Answer string `json:"answer"` // ok, missing (a run cannot start) or limited (it can, with less)
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"`
}

func doctorCommand(s *streams) *cobra.Command {
	return &cobra.Command{
		Use:     "doctor",
		Short:   "what is found on this machine, and how to get what is missing",
		Example: "  interlock doctor\n  interlock doctor --json",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			found := diagnose(cmd.Context())
			if s.json {
				encoder := json.NewEncoder(s.out)
				for _, d := range found {
					if err := encoder.Encode(d); err != nil {
						return infrastructuref("write: %v", err)
					}
				}
				return doctorExit(found)
			}
			for _, d := range found {
				sign := map[string]string{"ok": "✓", "limited": "?", "missing": "!"}[d.Answer]
				_, _ = fmt.Fprintf(s.out, "  %s %-12s %s\n", sign, d.Name, d.Detail)
				if d.Fix != "" {
					_, _ = fmt.Fprintf(s.out, "    %-12s %s\n", "", d.Fix)
				}
			}
			return doctorExit(found)
		},
	}
}

func doctorExit(found []diagnosis) error {
	for _, d := range found {
		if d.Answer == "missing" {
			return exitWith(ExitInfrastructure)
		}
	}
	return nil
}

func diagnose(ctx context.Context) []diagnosis {
	return []diagnosis{findPostgres(ctx), findLoopback(ctx), findFolder(), findUser(), findClock(), findBrowser()}
}

func findPostgres(ctx context.Context) diagnosis {
	d := diagnosis{Name: "PostgreSQL"}
	if url := os.Getenv("DATABASE_URL"); url != "" {
		d.Answer, d.Detail = "ok", "DATABASE_URL names a server; a run makes a throw-away database in it"
		return d
	}
	folder, err := pgserver.Find(ctx)
	if err != nil {
		d.Answer, d.Detail = "limited", "no initdb and postgres on this machine; a run tries to fetch them"
		d.Fix = "apt-get install postgresql, or brew install postgresql, or set DATABASE_URL"
		return d
	}
	version, err := exec.CommandContext(ctx, filepath.Join(folder, "postgres"), "--version").Output()
	if err != nil {
		d.Answer, d.Detail, d.Fix = "missing", fmt.Sprintf("%s does not run: %v", filepath.Join(folder, "postgres"), err), "install PostgreSQL again"
		return d
	}
	d.Answer, d.Detail = "ok", fmt.Sprintf("%s in %s", trimLine(version), folder)
	return d
}

func findLoopback(ctx context.Context) diagnosis {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return diagnosis{"ports", "missing", fmt.Sprintf("no port on 127.0.0.1 can be had: %v", err), "free some ports, or allow this user to listen on 127.0.0.1"}
	}
	_ = l.Close()
	return diagnosis{Name: "ports", Answer: "ok", Detail: "127.0.0.1 gives free ports"}
}

func findFolder() diagnosis {
	dir, err := os.MkdirTemp("", "interlock-doctor-")
	if err != nil {
		return diagnosis{"folder", "missing", fmt.Sprintf("no folder can be made in %s: %v", os.TempDir(), err), "set TMPDIR to a folder that you may write to"}
	}
	_ = os.RemoveAll(dir)
	return diagnosis{Name: "folder", Answer: "ok", Detail: os.TempDir() + " can be written to"}
}

func findUser() diagnosis {
	if os.Geteuid() != 0 {
		return diagnosis{Name: "user", Answer: "ok", Detail: "not root"}
	}
	for _, name := range []string{"postgres", "nobody"} {
		if _, err := user.Lookup(name); err == nil {
			return diagnosis{Name: "user", Answer: "ok", Detail: "root; the private PostgreSQL runs as " + name}
		}
	}
	return diagnosis{"user", "missing", "root, and neither postgres nor nobody exists: PostgreSQL refuses to run as root", "run as another user, or add one named postgres"}
}

// findClock compares the wall clock with the moment of the newest commit in this
// build: an earlier clock is wrong, and certificates are judged by it.
func findClock() diagnosis {
	now := time.Now().UTC()
	if built, ok := buildTime(); ok && now.Before(built) {
		return diagnosis{"clock", "missing", fmt.Sprintf("%s is before this program was made (%s)", now.Format(time.DateTime), built.Format(time.DateTime)), "set the clock; certificates are judged by it"}
	}
	return diagnosis{Name: "clock", Answer: "ok", Detail: now.Format("2006-01-02 15:04:05Z")}
}

func findBrowser() diagnosis {
	if path := browser.Chromium(); path != "" {
		return diagnosis{Name: "browser", Answer: "ok", Detail: path + " (only the browser tests need it)"}
	}
	return diagnosis{"browser", "limited", "no Chromium; only the browser tests need it", "apt-get install chromium"}
}

func trimLine(b []byte) string {
	text := string(b)
	for len(text) > 0 && (text[len(text)-1] == '\n' || text[len(text)-1] == '\r') {
		text = text[:len(text)-1]
	}
	return text
}
