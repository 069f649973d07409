package check

// t02 rejects arguments that are encoded twice, cut, or in the form of another
// protocol (a string where an object is due, or the reverse).
var t02 = Check{
	ID: "T02", Title: "the arguments of a call stand in the form of the protocol and are one JSON value",
	Kind: Deterministic, Severity: Must, Probes: []Probe{Base, Other},
	judge: owned(Base, Other),
}
