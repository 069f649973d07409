package cli

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"
)

// version is set at release time by the linker; a build from source says devel.
var version = "devel"

type buildInfo struct {
	Version  string            `json:"version"`
	Revision string            `json:"revision,omitempty"`
	Modified bool              `json:"modified"`
	Go       string            `json:"go"`
	Platform string            `json:"platform"`
	Modules  map[string]string `json:"modules"`
}

// shownModules are the libraries whose version decides what a verdict means.
var shownModules = []string{
	"github.com/jackc/pgx/v5", "github.com/Shopify/toxiproxy/v2", "github.com/onsi/ginkgo/v2",
	"github.com/onsi/gomega", "github.com/santhosh-tekuri/jsonschema/v5", "cel.dev/cel-go",
}

func readBuildInfo() buildInfo {
	info := buildInfo{Version: version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Modules: map[string]string{}}
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return info
	}
	for _, s := range build.Settings {
		switch s.Key {
		case "vcs.revision":
			info.Revision = s.Value
		case "vcs.modified":
			info.Modified = s.Value == "true"
		}
	}
	for _, m := range build.Deps {
		for _, shown := range shownModules {
			if m.Path == shown {
				info.Modules[m.Path] = m.Version
			}
		}
	}
	return info
}

// buildTime returns the time of the commit that this program was built from.
func buildTime() (time.Time, bool) {
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return time.Time{}, false
	}
	for _, s := range build.Settings {
		if s.Key == "vcs.time" {
			at, err := time.Parse(time.RFC3339, s.Value)
			return at, err == nil
		}
	}
	return time.Time{}, false
}

func versionCommand(s *streams) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "what this program is built from",
		Example: "  interlock version\n  interlock version --json",
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			info := readBuildInfo()
			if s.json {
				return json.NewEncoder(s.out).Encode(info)
			}
			_, err := fmt.Fprintf(s.out, "interlock %s %s (%s, %s)\n", info.Version, info.Revision, info.Go, info.Platform)
			return err
		},
	}
}
