package check

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
)

// x03 sends cases through the job service and demands that what it stored is, byte
// for byte, what the judge accepted. Without a job service it is inconclusive.
var x03 = Check{
	ID: "X03", Title: "the stored result is the judged answer, byte for byte",
	Kind: Relational, Severity: Must,
	judge: func(r *Run, t *tally) {
		if len(r.RoundTrips) == 0 {
			t.reason = "no job service took part in the run"
		}
		for i, trip := range r.RoundTrips {
			o := &Observation{Probe: "round-trip", Case: trip.Case, Repeat: i + 1, Digest: digest(trip.Stored), Replayed: true}
			switch {
			case trip.Problem != "" && trip.Stored == nil && trip.Judged == nil:
				t.skip(o, trip.Problem)
			case trip.Problem != "":
				t.fail(o, "round-trip.lost", "", trip.Problem)
			case !bytes.Equal(trip.Judged, trip.Stored):
				t.fail(o, "round-trip.differs", "byte "+strconv.Itoa(firstDifference(trip.Judged, trip.Stored)), "the stored result is not the judged answer")
			default:
				t.pass(o)
			}
		}
	},
}

func firstDifference(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
