package check

// s02 rejects invented keys: closed world, any depth, letter case counts.
var s02 = Check{
	ID: "S02", Title: "no key that the contract does not know, at any depth",
	Kind: Deterministic, Severity: Must, Probes: []Probe{Base, Other},
	judge: owned(Base, Other),
}
