package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/interlock-harness/interlock/providers/lock"
)

func lockCommand(s *streams) *cobra.Command {
	var check bool
	cmd := &cobra.Command{
		Use:   "lock FOLDER",
		Short: "lock a folder of contracts, profiles or other fixtures as it is",
		Long: `Writes FOLDER/lock.json with the SHA-256 of every other file in it. From then on
every command and the service refuse the folder when a file of it was changed, is
missing or is one too many, and name that file. Run it again after a change that is
meant.

exit 0 the folder is locked, or with --check as it was locked; 1 it is not; 64 there is no such folder`,
		Example: `  interlock lock contracts
  interlock lock contracts --check`,
		Args: exactly(1, "FOLDER"),
		RunE: func(_ *cobra.Command, args []string) error {
			dir := args[0]
			if info, err := os.Stat(dir); err != nil || !info.IsDir() {
				return usagef("%s is no folder", shellWord(dir))
			}
			file := filepath.Join(dir, lock.File)
			if check {
				if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
					return &exitError{code: ExitViolation, message: fmt.Sprintf("%s has no lock; interlock lock %[1]s makes one", shellWord(dir))}
				}
				return locked(os.DirFS(dir), ".", dir)
			}
			text, err := lock.Make(os.DirFS(dir), ".")
			if err == nil {
				err = writeWhole(file, text, 0o644)
			}
			if err != nil {
				return infrastructuref("lock %s: %v", shellWord(dir), err)
			}
			_, _ = fmt.Fprintln(s.out, printable(file))
			return nil
		},
	}
	cmd.Flags().BoolVar(&check, "check", false, "write nothing; say whether the folder is as it was locked")
	return cmd
}

// locked refuses a folder that is not as its lock says: exit 1.
func locked(fsys fs.FS, dir, shown string) error {
	err := lock.Check(fsys, dir, shown)
	var changed *lock.ChangedError
	switch {
	case errors.As(err, &changed):
		changed.Renew = "interlock lock " + shellWord(shown)
		return &exitError{code: ExitViolation, message: changed.Error()}
	case err != nil:
		return infrastructuref("%v", err)
	}
	return nil
}
