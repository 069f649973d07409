package cli

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/interlock-harness/interlock/harness/edge"
	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/certify"
	"github.com/interlock-harness/interlock/providers/standin"
)

// standCommand runs one of the harness's own parts as a process: in
// compose.yaml each is a container. It is hidden because nobody needs it
// otherwise.
func standCommand(s *streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:    "stand",
		Short:  "run a stand-in provider or the balancer of compose.yaml",
		Hidden: true,
		Args:   noArguments,
		RunE: func(*cobra.Command, []string) error {
			return usagef("stand needs provider or balancer; interlock stand --help shows both")
		},
	}
	cmd.AddCommand(standProvider(s), standBalancer(s))
	return cmd
}

func standProvider(s *streams) *cobra.Command {
	var listen, protocol, contractName, model string
	cmd := &cobra.Command{
		Use:     "provider NAME",
		Short:   "a provider that answers what the contract's schema allows, or knows the answers to a contract's cases",
		Example: "  interlock stand provider openai-demo --protocol openai-chat --listen 127.0.0.1:9001",
		Args:    exactly(1, "NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o := standin.Options{Name: args[0], Protocol: providers.Protocol(protocol), Listen: listen, Model: model}
			if contractName != "" {
				loaded, _, err := (&deployed{}).contract(contractName)
				if err != nil {
					return err
				}
				if o.References, err = certify.References(loaded); err != nil {
					return infrastructuref("contract %s: %v", contractName, err)
				}
			}
			server, err := standin.Start(o)
			if err != nil {
				return infrastructuref("%v", err)
			}
			return s.standing(cmd.Context(), server.Addr(), server.Close)
		},
	}
	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:0", "address to serve on")
	cmd.Flags().StringVar(&protocol, "protocol", string(providers.OpenAIChat), "wire protocol")
	cmd.Flags().StringVar(&contractName, "contract", "", "answer the cases of this built-in contract as their references say")
	cmd.Flags().StringVar(&model, "model", "", "the one model that it serves (default: any)")
	return cmd
}

func standBalancer(s *streams) *cobra.Command {
	var listen string
	cmd := &cobra.Command{
		Use:     "balancer NAME=URL...",
		Short:   "passes each request to one of the replicas in turn, and never a second time",
		Example: "  interlock stand balancer --listen 127.0.0.1:8080 api-1=http://127.0.0.1:8081 api-2=http://127.0.0.1:8082",
		RunE: func(cmd *cobra.Command, args []string) error {
			var backends []edge.Backend
			for _, arg := range args {
				name, address, ok := strings.Cut(arg, "=")
				u, err := url.Parse(address)
				if !ok || err != nil || u.Scheme != "http" || u.Host == "" || u.Path != "" {
					return usagef("a replica is NAME=http://HOST:PORT, not %q", arg)
				}
				backends = append(backends, edge.Backend{Name: name, URL: address})
			}
			if len(backends) == 0 {
				return usagef("the balancer needs at least one replica, NAME=http://HOST:PORT")
			}
			b, err := edge.NewBalancerAt(listen, backends...)
			if err != nil {
				return infrastructuref("%v", err)
			}
			return s.standing(cmd.Context(), b.Addr(), b.Close)
		},
	}
	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:0", "address to serve on")
	return cmd
}

// standing says where a part listens and keeps it until it is told to end,
// which is no error.
func (s *streams) standing(ctx context.Context, addr string, closing func() error) error {
	if err := json.NewEncoder(s.out).Encode(map[string]string{"listening": addr}); err != nil {
		_ = closing()
		return infrastructuref("%v", err)
	}
	<-ctx.Done()
	return closing()
}
