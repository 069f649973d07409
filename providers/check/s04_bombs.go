package check

// s04 rejects numbers such as 1e1000001, nesting beyond 64 levels and oversize.
var s04 = Check{
	ID: "S04", Title: "numbers, depth and size stay within bounds",
	Kind: Deterministic, Severity: Must, Probes: []Probe{Base, Other},
	judge: owned(Base, Other),
}
