package check

// b04 rejects values that were read with the wrong decimal sign, unit, currency or
// calendar.
var b04 = Check{
	ID: "B04", Title: "units, currencies, numbers and dates are normalised as the contract says",
	Kind: Deterministic, Severity: Must, Probes: []Probe{Base, Other},
	judge: owned(Base, Other),
}
