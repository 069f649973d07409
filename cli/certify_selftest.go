package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/certify"
	"github.com/interlock-harness/interlock/providers/fixtures"
	"github.com/interlock-harness/interlock/providers/wire"
)

// selfTestContract is what bad providers are tried under: their faults are made
// for its answers.
const (
	selfTestContract = "invoice"
	selfTestRepeats  = 4
)

// runSelfTest proves the checks: each bad provider is rejected by its own check
// and by no other, the good one of every protocol by none.
func (c *certification) runSelfTest(ctx context.Context) error {
	if c.contractName != "" && c.contractName != selfTestContract {
		return usagef("--self-test runs under contract %s", selfTestContract)
	}
	loaded, facts, err := c.deployed.contract(selfTestContract)
	if err != nil {
		return err
	}
	list, err := certify.BadProviders(fixtures.FS, "bad")
	if err != nil {
		return infrastructuref("bad providers: %v", err)
	}
	progress := c.s.progress()
	var rows []certify.Row
	try := func(p providers.Protocol, b *certify.Bad) error {
		row, err := certify.Try(ctx, certify.Options{
			Contract: loaded, Facts: facts, Repeats: selfTestRepeats, Parallel: c.parallel,
			Profile: providers.Profile{
				Name: "stand-in", Protocol: p, BaseURL: "http://127.0.0.1:1", Model: "standin-1", AllowLoopback: true,
				Auth: providers.Auth{Header: "Authorization", Scheme: "Bearer", Env: "NONE"},
			},
		}, b)
		if err != nil {
			return infrastructuref("self-test: %v", err)
		}
		rows = append(rows, row)
		progress.set(fmt.Sprintf("%d tried, last %s in %s", len(rows), or(row.Bad, "the good one"), p))
		return nil
	}
	protocols := wire.Protocols()
	for _, p := range protocols {
		if err := try(p, nil); err != nil {
			return err
		}
	}
	for i := range list {
		b := &list[i]
		tried := 0
		for n := range protocols {
			p := protocols[(i+n)%len(protocols)]
			if !b.Speaks(p) || tried > 0 && !c.selfTestProtocolAll {
				continue
			}
			tried++
			if err := try(p, b); err != nil {
				return err
			}
		}
	}
	progress.clear()
	return c.showMatrix(rows, len(list))
}

func (c *certification) showMatrix(rows []certify.Row, bad int) error {
	wrong := 0
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "  provider\tprotocol\tmust be rejected by\trejected by")
	for _, r := range rows {
		sign := "✓"
		if !r.Right {
			sign = "✗"
			wrong++
		}
		_, _ = fmt.Fprintf(table, "%s %s\t%s\t%s\t%s\n", sign, or(r.Bad, "(good)"), r.Protocol, or(r.Check, "none"), or(strings.Join(r.Rejected, " "), "none"))
	}
	_ = table.Flush()
	code := ExitOK
	if wrong > 0 {
		code = ExitViolation
	}
	if c.s.json {
		if err := json.NewEncoder(c.s.out).Encode(map[string]any{"type": "self-test", "rows": rows, "wrong": wrong, "exit": code}); err != nil {
			return infrastructuref("write: %v", err)
		}
		return exitWith(code)
	}
	_, _ = fmt.Fprintf(&b, "\n%d bad providers, %d tries, %d not as they must be.\n", bad, len(rows), wrong)
	if code != 0 {
		_, _ = fmt.Fprintf(&b, "exit %d\n", code)
	}
	if _, err := fmt.Fprint(c.s.out, b.String()); err != nil {
		return infrastructuref("write: %v", err)
	}
	return exitWith(code)
}
