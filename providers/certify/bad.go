package certify

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/check"
	"github.com/interlock-harness/interlock/providers/standin"
	"github.com/interlock-harness/interlock/providers/strictyaml"
)

// Bad is a seeded bad provider: one fault of the stand-in, and the one check that
// must reject it.
type Bad struct {
	ID        string               `yaml:"id"`
	Check     string               `yaml:"check"`
	Title     string               `yaml:"title"` // what it does, after "the provider that"
	Protocols []providers.Protocol `yaml:"protocols"`
	Contract  string               `yaml:"contract"` // under which it is tried; default DefaultContract
}

// DefaultContract is what bad providers are tried under: most faults are made for
// its answers.
const DefaultContract = "invoice"

// Under is the id of the contract under which it is tried.
func (b *Bad) Under() string {
	if b.Contract == "" {
		return DefaultContract
	}
	return b.Contract
}

// BadProviders reads the folder of bad providers, sorted by id. Each must be a
// fault that the stand-in has and name a check that exists.
func BadProviders(fsys fs.FS, dir string) ([]Bad, error) {
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return nil, err
	}
	var list []Bad
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".yaml") {
			continue // the lock
		}
		file := path.Join(dir, e.Name())
		data, err := fs.ReadFile(fsys, file)
		if err != nil {
			return nil, err
		}
		var b Bad
		if err := strictyaml.Decode(file, data, &b); err != nil {
			return nil, err
		}
		if b.ID != strings.TrimSuffix(e.Name(), ".yaml") {
			return nil, fmt.Errorf("%s: id %q does not match the name of the file", file, b.ID)
		}
		if _, err := standin.BadProvider(b.ID); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if _, ok := check.ByID(b.Check); !ok {
			return nil, fmt.Errorf("%s: no check %q", file, b.Check)
		}
		list = append(list, b)
	}
	return list, nil
}

// Speaks tells whether the fault can be had in a protocol.
func (b Bad) Speaks(p providers.Protocol) bool {
	return len(b.Protocols) == 0 || slices.Contains(b.Protocols, p)
}

// Row is what the checks said of one provider in one protocol.
type Row struct {
	Bad          string             `json:"bad"`            // empty for the good one
	Seed         uint64             `json:"seed,omitempty"` // of the good one's manner; 0 is the usual one
	Contract     string             `json:"contract"`       // under which it was tried
	Check        string             `json:"check,omitempty"`
	Protocol     providers.Protocol `json:"protocol"`
	Rejected     []string           `json:"rejected"`     // checks that failed
	Inconclusive []string           `json:"inconclusive"` // checks from which the fault hid what they look at
	Right        bool               `json:"right"`        // rejected by its own check alone; the good one by none
	Reason       string             `json:"reason,omitempty"`
}

// selfTestTimeout is how long a request may take in a self-test, where one bad
// provider falls silent.
const (
	selfTestTimeout   = 400 * time.Millisecond
	selfTestFirstByte = 40 * time.Millisecond // of which a slow provider takes more
)

// Try takes one bad provider, or the good one where b is nil, through the checks.
func Try(ctx context.Context, o Options, b *Bad) (Row, error) {
	row := Row{Protocol: o.Profile.Protocol, Rejected: []string{}, Inconclusive: []string{}}
	if o.Timeout == 0 {
		o.Timeout = 10 * time.Second
	}
	var err error
	if o.Prompt, err = selfTestPrompt(o.Profile.Protocol); err != nil {
		return row, err
	}
	if b != nil {
		fault, err := standin.BadProvider(b.ID)
		if err != nil {
			return row, err
		}
		row.Bad, row.Check, o.Fault = b.ID, b.Check, fault
		switch b.Check {
		case "L03":
			o.Timeout = selfTestTimeout
		case "L01":
			budgeted := *o.Contract
			budgeted.Budget.FirstByte = selfTestFirstByte
			o.Contract = &budgeted
		}
	}
	o.RoundTrip = storing(o.Fault)
	r, err := Run(ctx, o)
	if err != nil {
		return row, fmt.Errorf("%s in %s: %w", row.Bad, row.Protocol, err)
	}
	for _, res := range r.Results {
		switch {
		case res.Verdict == check.Fail:
			row.Rejected = append(row.Rejected, res.ID)
			row.Reason = res.Reason
		case res.Verdict == check.Inconclusive && res.N > 0:
			row.Inconclusive = append(row.Inconclusive, res.ID)
		}
	}
	row.Right = len(row.Rejected) == 0 && b == nil || b != nil && slices.Equal(row.Rejected, []string{b.Check})
	return row, nil
}

// storing stands for a job service in a self-test: what it stores is the answer
// itself, or what the fault makes of it.
func storing(f *standin.Fault) func(context.Context, Options) ([]check.RoundTrip, error) {
	return func(_ context.Context, o Options) ([]check.RoundTrip, error) {
		refs, err := References(o.Contract)
		if err != nil {
			return nil, err
		}
		var trips []check.RoundTrip
		for i, r := range refs[:min(len(refs), len(o.Contract.Cases))] {
			trip := check.RoundTrip{Case: o.Contract.Cases[i].ID, Judged: []byte(r.Answer), Stored: []byte(r.Answer)}
			if f != nil && f.Store != nil {
				trip.Stored = f.Store(trip.Stored)
			}
			trips = append(trips, trip)
		}
		return trips, nil
	}
}
