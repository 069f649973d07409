package check

// s01 demands a usable output: a case passes when every repeat of it did, and the
// lower bound over cases must reach the plan's threshold. Refusals, filters and
// limits without need count as failures here: the job would have no result.
var s01 = Check{
	ID: "S01", Title: "the output is JSON that meets the schema, formats asserted",
	Kind: Statistical, Severity: Must, Probes: []Probe{Base, Other},
	judge: owned(Base, Other),
}
