package check

// w01 rejects pages, redirect targets and other bodies that call themselves a
// success and are no answer of the protocol.
var w01 = Check{
	ID: "W01", Title: "a success is an answer of the protocol: status, content type, body",
	Kind: Deterministic, Severity: Must, Probes: []Probe{Base, Other},
	judge: owned(Base, Other),
}
