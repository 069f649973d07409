package check

// p02 demands that a system prompt reaches the model, at the beginning and later
// on. What a template adds of its own is noted: it counts, too.
var p02 = Check{
	ID: "P02", Title: "the system prompt reaches the model",
	Kind: Deterministic, Severity: Must,
	judge: rendered("R1", "R2", "R15"),
}
