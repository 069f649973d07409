package check

// w07 rejects streams that close cleanly without a finish and without the end
// marker: such an attempt is unknown, however complete its text looks.
var w07 = Check{
	ID: "W07", Title: "a stream states how it ended before it closes",
	Kind: Deterministic, Severity: Must, Probes: []Probe{Base, Other},
	judge: owned(Base, Other),
}
