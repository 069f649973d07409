package check

// s07 rejects null where the schema wants a value or absence.
var s07 = Check{
	ID: "S07", Title: "null, absent and empty are told apart",
	Kind: Deterministic, Severity: Must, Probes: []Probe{Base, Other},
	judge: owned(Base, Other),
}
