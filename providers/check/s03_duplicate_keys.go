package check

// s03 rejects objects with a name twice: two readers would read two values.
var s03 = Check{
	ID: "S03", Title: "no key twice in one object",
	Kind: Deterministic, Severity: Must, Probes: []Probe{Base, Other},
	judge: owned(Base, Other),
}
