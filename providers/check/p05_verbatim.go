package check

// p05 demands that text reaches the model as it was written, through template and
// tokenizer, in every script.
var p05 = Check{
	ID: "P05", Title: "text reaches the model as it was written",
	Kind: Deterministic, Severity: Must,
	judge: rendered("R8", "R16"),
}
