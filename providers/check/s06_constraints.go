package check

// s06 demands that values keep to what the schema says of them beyond their type.
var s06 = Check{
	ID: "S06", Title: "enum, const, pattern, format and bounds of the schema are kept",
	Kind: Statistical, Severity: Must, Probes: []Probe{Base, Other},
	judge: owned(Base, Other),
}
