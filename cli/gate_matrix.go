package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/interlock-harness/interlock/providers/certificate"
)

// showMatrix asks about every pair of providers, one table for each contract:
// rows fail, columns take over.
func (o *gateOptions) showMatrix(s *streams, gate *certificate.Gate, at time.Time) error {
	names := slices.Sorted(maps.Keys(o.providers))
	contracts := slices.Sorted(maps.Keys(o.contracts))
	answers := []certificate.Answer{}
	var b strings.Builder
	for _, id := range contracts {
		_, _ = fmt.Fprintf(&b, "%s\n", o.contracts[id].Name())
		table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		_, _ = fmt.Fprintf(table, "from \\ to\t%s\t\n", strings.Join(names, "\t"))
		yes, no := 0, 0
		for _, from := range names {
			_, _ = fmt.Fprint(table, from)
			for _, to := range names {
				if from == to {
					_, _ = fmt.Fprint(table, "\t")
					continue
				}
				a := gate.Ask(certificate.Question{From: from, To: to, Contract: id, At: at, AsOf: o.at != ""})
				answers = append(answers, a)
				if a.Allow {
					yes++
				} else {
					no++
				}
				_, _ = fmt.Fprintf(table, "\t%s", cell(a))
			}
			_, _ = fmt.Fprintln(table, "\t")
		}
		_ = table.Flush()
		_, _ = fmt.Fprintf(&b, "%d of %d failovers are open.\n\n", yes, yes+no)
	}
	if s.json {
		if err := json.NewEncoder(s.out).Encode(map[string]any{"answers": answers}); err != nil {
			return infrastructuref("write: %v", err)
		}
		return nil
	}
	if _, err := fmt.Fprint(s.out, printable(strings.TrimSuffix(b.String(), "\n"))); err != nil {
		return infrastructuref("write: %v", err)
	}
	return nil
}

// cell is an answer in one or two words.
func cell(a certificate.Answer) string {
	if a.Allow {
		left := a.NotAfter.Sub(a.At.Time)
		if left >= 48*time.Hour {
			return fmt.Sprintf("yes %dd", int(left.Hours())/24)
		}
		return fmt.Sprintf("yes %dh", int(left.Hours()))
	}
	switch r := a.Reasons[0]; r.Code {
	case certificate.NoCertificate:
		return "-"
	case certificate.Expired:
		return "old"
	case certificate.CheckFailed:
		if r.Check != "" {
			return "no " + r.Check
		}
		return "no check"
	default:
		return "no " + string(r.Code)
	}
}
