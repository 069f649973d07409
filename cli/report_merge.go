package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/interlock-harness/interlock/harness/plan"
	"github.com/interlock-harness/interlock/harness/report"
)

// mergeCommand unites what shards of one search have found.
func mergeCommand(s *streams) *cobra.Command {
	return &cobra.Command{
		Use:   "merge DIR...",
		Short: "unite the shards of one explore --plans --shard",
		Long: `Reads what each shard wrote into its folder, and tells it as if one process had
played all plans. Shards that are missing make the whole inconclusive.

exit 0 no violation, 1 violation, 2 inconclusive or a shard is missing, 3 a file cannot be read`,
		Example: `  interlock report merge out-1 out-2 out-3 out-4`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("merge needs the folders of the shards, such as out-1 out-2")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			var shards []plan.Summary
			for _, dir := range args {
				if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
					return usagef("there is no report folder %s", dir)
				}
				shard, err := plan.LoadSummary(dir)
				if err != nil {
					return infrastructuref("%v", err)
				}
				shards = append(shards, shard)
			}
			all, err := plan.Merge(shards)
			if err != nil {
				return usagef("%v", err)
			}
			err = tellSummary(s, all, report.ExitCode(all.Verdict()))
			if missing := all.Missing(); err == nil && len(missing) > 0 {
				return &exitError{code: ExitInconclusive, message: fmt.Sprintf("shards %s are missing: their plans were not played", strings.Join(missing, ", "))}
			}
			return err
		},
	}
}
