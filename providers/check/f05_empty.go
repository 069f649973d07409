package check

// f05 rejects empty answers that call themselves complete.
var f05 = Check{
	ID: "F05", Title: "a normal end comes with output, not with nothing and not with reasoning only",
	Kind: Deterministic, Severity: Must, Probes: []Probe{Base, Other},
	judge: owned(Base, Other),
}
