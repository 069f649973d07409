package check

// b01 rejects outputs that contradict themselves, such as a total that is not the
// sum of its lines.
var b01 = Check{
	ID: "B01", Title: "the output keeps to the rules of the contract about itself",
	Kind: Deterministic, Severity: Must, Probes: []Probe{Base, Other},
	judge: owned(Base, Other),
}
