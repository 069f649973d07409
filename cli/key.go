package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/interlock-harness/interlock/providers/certificate"
)

func keyCommand(s *streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "key",
		Short:   "make and show the keys that sign certificates",
		Example: "  interlock key new issuer.key\n  interlock key show issuer.key",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("no command %q.%s %s --help shows all.", args[0], didYouMean(args[0], commandNames(cmd)), cmd.CommandPath())
			}
			return usagef("key needs new or show; interlock key --help shows both")
		},
		RunE: func(*cobra.Command, []string) error { return nil },
	}
	cmd.AddCommand(keyNewCommand(s), keyShowCommand(s))
	return cmd
}

func keyNewCommand(s *streams) *cobra.Command {
	return &cobra.Command{
		Use:     "new FILE",
		Short:   "write a new ed25519 key, readable by you only, and print its public half",
		Example: "  interlock key new issuer.key",
		Args:    exactly(1, "FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			key, err := certificate.NewSigner()
			if err != nil {
				return infrastructuref("make a key: %v", err)
			}
			err = certificate.WriteKeyFile(args[0], key)
			if errors.Is(err, fs.ErrExist) {
				return usagef("%s exists and is left as it is; name another file", shellWord(args[0]))
			}
			if err != nil {
				return infrastructuref("write key file: %v", err)
			}
			return s.showKey(args[0], key.Public())
		},
	}
}

func keyShowCommand(s *streams) *cobra.Command {
	return &cobra.Command{
		Use:     "show FILE",
		Short:   "print the public half of a key file, as a trust file takes it",
		Example: "  interlock key show issuer.key",
		Args:    exactly(1, "FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			key, err := certificate.ReadKeyFile(args[0])
			if err != nil {
				return keyFileError(err)
			}
			return s.showKey(args[0], key.Public())
		},
	}
}

func (s *streams) showKey(file string, public certificate.PublicKey) error {
	if s.json {
		return json.NewEncoder(s.out).Encode(map[string]string{"file": file, "key": public.String(), "id": public.ID()})
	}
	_, err := fmt.Fprintln(s.out, public)
	if !s.quiet {
		_, _ = fmt.Fprintf(s.err, "private half in %s; the line above goes into a trust file as an issuer's key\n", shellWord(file))
	}
	return err
}

// keyFileError is a key file that cannot be used: a mistake of the caller.
func keyFileError(err error) error {
	var bad *certificate.KeyFileError
	if errors.As(err, &bad) && bad.Remedy != "" {
		return usagef("%v\n%s", bad, bad.Remedy)
	}
	return usagef("%v", err)
}
