package check

// t01 rejects calls to tools that the request does not declare. Nothing is ever
// executed.
var t01 = Check{
	ID: "T01", Title: "a call names a tool that was offered",
	Kind: Deterministic, Severity: Must, Probes: []Probe{Base, Other},
	judge: owned(Base, Other),
}
