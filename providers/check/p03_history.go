package check

// p03 demands that no turn of a conversation is dropped unseen: it is kept, or the
// request is refused.
var p03 = Check{
	ID: "P03", Title: "no turn of a conversation is dropped unseen",
	Kind: Deterministic, Severity: Must,
	judge: rendered("R3", "R13"),
}
