package check

// i02 rejects answers of another model.
var i02 = Check{
	ID: "I02", Title: "the model that answers is the one that was asked for, or a dated name of it",
	Kind: Deterministic, Severity: Must, Probes: []Probe{Base, Other},
	judge: owned(Base, Other),
}
