package check

// b02 rejects outputs that are sound in themselves and not about this input.
var b02 = Check{
	ID: "B02", Title: "the output agrees with the input: ids copied, lines complete",
	Kind: Deterministic, Severity: Must, Probes: []Probe{Base, Other},
	judge: owned(Base, Other),
}
