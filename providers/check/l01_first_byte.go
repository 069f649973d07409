package check

// l01 compares the time to the first byte with the budget of the contract: the
// slowest tenth may be beyond it, no more.
var l01 = Check{
	ID: "L01", Title: "the first byte comes within the budget of the contract",
	Kind: Statistical, Severity: Should, Probes: []Probe{Base},
	judge: func(r *Run, t *tally) {
		if r.FirstByte <= 0 {
			t.reason = "the contract has no budget for the first byte"
			return
		}
		for _, list := range r.inOrder(Base) {
			late := 0
			for _, o := range list {
				if len(o.Transcript.Chunks) > 0 && o.Transcript.Chunks[0].At > r.FirstByte {
					late++
				}
			}
			for i, o := range list {
				if i == 0 && late*10 > len(list) {
					t.fail(o, "latency.first_byte", "", "more than a tenth of the answers to this request began after "+r.FirstByte.String())
					continue
				}
				t.pass(o)
			}
		}
	},
}
