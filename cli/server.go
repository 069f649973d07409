package cli

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/interlock-harness/interlock/harness/edge"
	"github.com/interlock-harness/interlock/harness/stage/pgserver"
)

// serverFlags are the servers that a run uses instead of its own.
type serverFlags struct {
	pgURL     string
	toxiproxy string
}

func (f *serverFlags) postgres(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.pgURL, "pg-url", "", "use this PostgreSQL, in a throw-away database (default: DATABASE_URL, else a private one)")
}

func (f *serverFlags) proxy(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.toxiproxy, "toxiproxy", "", "use this stand-alone Toxiproxy, such as http://127.0.0.1:8474 (default: inside the process)")
}

// databaseURL is empty for a private server.
func (f *serverFlags) databaseURL() string {
	if f.pgURL != "" {
		return f.pgURL
	}
	return os.Getenv("DATABASE_URL")
}

// check finds what is misspelt, before anything is started.
func (f *serverFlags) check() error {
	if url := f.databaseURL(); url != "" {
		if err := pgserver.CheckURL(url); err != nil {
			if f.pgURL == "" {
				return usagef("DATABASE_URL: %v", err)
			}
			return usagef("--pg-url: %v", err)
		}
	}
	if f.toxiproxy != "" {
		if err := edge.CheckRemote(f.toxiproxy); err != nil {
			return usagef("--toxiproxy: %v", err)
		}
	}
	return nil
}
