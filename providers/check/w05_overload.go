package check

import (
	"strconv"

	"github.com/interlock-harness/interlock/providers/wire"
)

// w05 demands that load which is shed is stated as such: a 5xx with an error
// object. Called the caller's mistake, it would never be tried elsewhere.
var w05 = Check{
	ID: "W05", Title: "overload is stated as overload, not as the caller's mistake",
	Kind: Deterministic, Severity: Must, Probes: []Probe{Overload},
	judge: expect(Overload, func(_ *Run, o *Observation) (bool, string) {
		switch {
		case o.Transcript.Status < 500:
			return false, "status " + strconv.Itoa(o.Transcript.Status) + " where 503 or 529 was due"
		case wire.Failure(o.Transcript) == nil:
			return false, "no error object says what happened"
		}
		return true, ""
	}),
}
