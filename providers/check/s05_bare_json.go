package check

// s05 rejects output that would have to be repaired before it could be read.
var s05 = Check{
	ID: "S05", Title: "the JSON stands alone: no fence, prose, thinking or special token around it",
	Kind: Deterministic, Severity: Must, Probes: []Probe{Base, Other},
	judge: owned(Base, Other),
}
