package check

// b03 objects to quotations that were worded anew.
var b03 = Check{
	ID: "B03", Title: "quoted values stand in the input",
	Kind: Deterministic, Severity: Should, Probes: []Probe{Base, Other},
	judge: owned(Base, Other),
}
