package cli

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"
)

// healthcheckCommand exists because the container image holds no shell and no
// other client.
func healthcheckCommand(s *streams) *cobra.Command {
	timeout := 3 * time.Second
	cmd := &cobra.Command{
		Use:     "healthcheck URL",
		Short:   "exit 0 when URL answers 200",
		Example: "  interlock healthcheck http://127.0.0.1:8080/readyz",
		Args:    exactly(1, "URL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			u, err := url.Parse(args[0])
			if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
				return usagef("healthcheck needs an http or https URL without a password, such as http://127.0.0.1:8080/readyz")
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), timeout)
			defer cancel()
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
			if err != nil {
				return usagef("%v", err)
			}
			response, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
			if by, ended := endedBy(ctx); ended {
				return by
			}
			if err != nil {
				return &exitError{code: ExitViolation, message: fmt.Sprintf("%s does not answer: %v", u.Redacted(), err)}
			}
			defer func() { _ = response.Body.Close() }()
			if response.StatusCode != http.StatusOK {
				return &exitError{code: ExitViolation, message: fmt.Sprintf("%s answers %s", u.Redacted(), response.Status)}
			}
			if !s.quiet {
				_, _ = fmt.Fprintln(s.out, "ok")
			}
			return nil
		},
	}
	cmd.Flags().DurationVar(&timeout, "wait", timeout, "how long to wait for the answer")
	return cmd
}

// exactly refuses any other number of arguments, naming what is missing.
func exactly(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			return usagef("%s needs %s, but got %d argument(s); %s --help shows an example", cmd.CommandPath(), what, len(args), cmd.CommandPath())
		}
		return nil
	}
}
