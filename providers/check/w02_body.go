package check

// w02 rejects bodies with a byte order mark, invalid UTF-8, trailing bytes or an
// end in the middle.
var w02 = Check{
	ID: "W02", Title: "a body is one JSON value in valid UTF-8 and nothing else",
	Kind: Deterministic, Severity: Must, Probes: []Probe{Base, Other},
	judge: owned(Base, Other),
}
