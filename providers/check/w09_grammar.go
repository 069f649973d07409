package check

// w09 rejects streams that send keep-alives or comments as data.
var w09 = Check{
	ID: "W09", Title: "a stream keeps to the grammar of events: comments, pings and unknown events carry no data",
	Kind: Deterministic, Severity: Must, Probes: []Probe{Base, Other},
	judge: owned(Base, Other),
}
