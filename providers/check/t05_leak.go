package check

// t05 rejects calls in the text of an answer and pieces without their index.
var t05 = Check{
	ID: "T05", Title: "calls never come as text, and streamed pieces say which call they belong to",
	Kind: Deterministic, Severity: Must, Probes: []Probe{Base, Other},
	judge: owned(Base, Other),
}
