package check

// p04 demands that whoever writes the text of a user cannot write the tokens with
// which the template tells who speaks, flagged special or not.
var p04 = Check{
	ID: "P04", Title: "special tokens in the text of a user stay text",
	Kind: Deterministic, Severity: Must,
	judge: rendered("R4", "R5"),
}
