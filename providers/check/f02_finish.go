package check

// f02 rejects ends that nobody can class: a word of the server's own, or none in
// a whole body.
var f02 = Check{
	ID: "F02", Title: "the word for the end is one that the protocol knows",
	Kind: Deterministic, Severity: Must, Probes: []Probe{Base, Other},
	judge: owned(Base, Other),
}
