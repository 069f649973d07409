package check

// t03 rejects providers that answer with text, or with several calls, where one
// call was required.
var t03 = Check{
	ID: "T03", Title: "a required call comes, once",
	Kind: Deterministic, Severity: Must, Probes: []Probe{Base, Other},
	judge: owned(Base, Other),
}
