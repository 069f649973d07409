package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/certificate"
	"github.com/interlock-harness/interlock/providers/certify"
	"github.com/interlock-harness/interlock/providers/contract"
	"github.com/interlock-harness/interlock/providers/wire"
)

// runSelfTest proves the checks: each bad provider is rejected by its own check
// and by no other, the good one of every protocol by none.
func (c *certification) runSelfTest(ctx context.Context) error {
	if c.contractName != "" {
		return usagef("--self-test takes no --contract: each bad provider names its own")
	}
	fsys, dir, err := folder("", "bad")
	if err != nil {
		return err
	}
	list, err := certify.BadProviders(fsys, dir)
	if err != nil {
		return infrastructuref("bad providers: %v", err)
	}
	test := &certify.SelfTest{Bad: list, Protocols: wire.Protocols(), Contract: c.builtInContract()}
	if c.selfTestProtocol != "" {
		p := providers.Protocol(c.selfTestProtocol)
		if !slices.Contains(test.Protocols, p) {
			return usagef("there is no protocol %q.%s", p, didYouMean(c.selfTestProtocol, protocolNames()))
		}
		test.Protocols = []providers.Protocol{p}
	}
	if c.goodRuns < 0 || c.goodRuns > 0 && c.goodRuns < len(test.Protocols) {
		return usagef("--good-runs %d leaves protocols without a good provider; give at least %d, or 0 for the usual number", c.goodRuns, len(test.Protocols))
	}
	test.GoodRuns = c.goodRuns
	progress := c.s.progress()
	test.Progress = func(done, all int, last certify.Row) {
		progress.set(fmt.Sprintf("%d/%d tried, last %s in %s", done, all, or(last.Bad, "the good one"), last.Protocol))
	}
	matrix, err := test.Run(ctx)
	progress.clear()
	if err != nil {
		return brokenOff(ctx, "self-test: %v", err)
	}
	return c.showMatrix(matrix)
}

// builtInContract loads each built-in contract once.
func (c *certification) builtInContract() func(string) (*contract.Contract, certificate.Contract, error) {
	type loaded struct {
		contract *contract.Contract
		facts    certificate.Contract
	}
	var mu sync.Mutex
	known := map[string]loaded{}
	return func(id string) (*contract.Contract, certificate.Contract, error) {
		mu.Lock()
		defer mu.Unlock()
		l, ok := known[id]
		if !ok {
			var err error
			if l.contract, l.facts, err = (&deployed{}).contract(id); err != nil {
				return nil, l.facts, err
			}
			known[id] = l
		}
		return l.contract, l.facts, nil
	}
}

// showMatrix draws one line for each bad provider and one column for each check.
func (c *certification) showMatrix(m certify.Matrix) error {
	wrong := m.Wrong()
	code := ExitOK
	if len(wrong) > 0 {
		code = ExitViolation
	}
	if c.s.json {
		if wrong == nil {
			wrong = []string{}
		}
		if err := json.NewEncoder(c.s.out).Encode(map[string]any{
			"type": "self-test", "checks": m.Checks, "rows": m.Rows, "wrong": wrong, "exit": code,
		}); err != nil {
			return infrastructuref("write: %v", err)
		}
		return exitWith(code)
	}
	var b strings.Builder
	drawMatrix(&b, m)
	good := 0
	for _, r := range m.Rows {
		if r.Bad == "" {
			good++
		}
	}
	_, _ = fmt.Fprintf(&b, "\n%d checks, %d bad providers, %d runs of them, %d of good ones; %d not as they must be.\n",
		len(m.Checks), len(m.Bad), len(m.Rows)-good, good, len(wrong))
	for _, w := range wrong {
		_, _ = fmt.Fprintf(&b, "  ✗ %s\n", w)
	}
	if code != 0 {
		_, _ = fmt.Fprintf(&b, "exit %d\n", code)
	}
	if _, err := fmt.Fprint(c.s.out, printable(b.String())); err != nil {
		return infrastructuref("write: %v", err)
	}
	return exitWith(code)
}

func drawMatrix(b *strings.Builder, m certify.Matrix) {
	const width = 26
	for line := range 3 { // the ids of the checks, written downwards
		_, _ = fmt.Fprintf(b, "%*s", width, "")
		last := byte(0)
		for _, id := range m.Checks {
			if id[0] != last {
				b.WriteByte(' ')
			}
			last = id[0]
			b.WriteByte(id[line])
		}
		b.WriteByte('\n')
	}
	row := func(name string, cell func(id string) string) {
		_, _ = fmt.Fprintf(b, "%-*s", width, name)
		last := byte(0)
		for _, id := range m.Checks {
			if id[0] != last {
				b.WriteByte(' ')
			}
			last = id[0]
			b.WriteString(cell(id))
		}
	}
	row("(the good ones)", func(id string) string { return mark(m, "", id, false) })
	b.WriteByte('\n')
	for _, bad := range m.Bad {
		rejected, tried := m.Cell(bad.ID, bad.Check)
		if tried == 0 { // it cannot be had in the one protocol that was asked for
			continue
		}
		row(bad.ID, func(id string) string { return mark(m, bad.ID, id, id == bad.Check) })
		_, _ = fmt.Fprintf(b, "  %s %d of %d\n", bad.Check, rejected, tried)
	}
	b.WriteString("\n● rejected by its own check in every protocol   · not rejected   ✗ not as it must be\n")
}

func mark(m certify.Matrix, bad, id string, own bool) string {
	switch rejected, tried := m.Cell(bad, id); {
	case own && tried > 0 && rejected == tried:
		return "●"
	case !own && rejected == 0:
		return "·"
	}
	return "✗"
}
