package check

import (
	"encoding/json"
	"time"

	"github.com/interlock-harness/interlock/providers"
)

// Probe says for what a request was sent.
type Probe string

const (
	Base       Probe = "base"        // the cases of the contract as jobs send them, streamed and whole
	Other      Probe = "other-mode"  // some cases in the other output mode (tool call instead of text, or the reverse)
	Truncate   Probe = "truncate"    // too few output tokens
	BadRequest Probe = "bad-request" // a body that is no JSON
	WrongModel Probe = "wrong-model" // a model that does not exist
	RateLimit  Probe = "rate-limit"  // the provider is asked too often
	Overload   Probe = "overload"    // the provider sheds load
	MidStream  Probe = "mid-stream"  // the provider fails after some of the answer
	Refusal    Probe = "refusal"     // the model declines
	Filter     Probe = "filter"      // a filter leaves nothing
	Schema     Probe = "schema"      // does the provider keep to the schema when the prompt pulls away from it?

	Twin       Probe = "twin"       // a case in which streamed and whole answers differ, asked again
	Trigger    Probe = "trigger"    // the contract's tool is on offer, and the model is free to call it
	Irrelevant Probe = "irrelevant" // a tool that does not fit is on offer, and the model is free to call it
	Permuted   Probe = "permuted"   // a list of the input in another order
	Cancel     Probe = "cancel"     // the client goes away in the middle of the answer

	UnknownParameter Probe = "unknown-parameter" // a field that the protocol does not have
)

// Work says what became of the work of a request whose client went away.
type Work string

const (
	WorkNotSeen Work = ""
	WorkEnded   Work = "ended"
	WorkWentOn  Work = "went on"
)

// Observation is one request of a run and what came back, judged.
type Observation struct {
	Probe      Probe
	Case       string
	Asked      string // id of the case of the contract that was asked
	Repeat     int    // from 1
	Profile    string
	Transcript providers.Transcript
	Response   providers.Response // of a 2xx answer
	Judgement  providers.Judgement
	Served     int    // requests that the server counted for this one; 0 where nobody counts
	Relation   string // of probe Permuted: the relation of the contract
	Work       Work   // of probe Cancel
	Replayed   bool   // recordings or the stand-in answered
	Digest     string // of the transcript

	owner string // the one check to which its fault belongs; "" for none
	form  bool   // a stream whose accepted answer differs because it is a stream
	lost  bool   // nothing to judge: the transport or the provider's availability
}

// Stream reports whether a stream was asked for.
func (o *Observation) Stream() bool { return o.Transcript.Request.Stream }

// Mode in which the output was asked for.
func (o *Observation) Mode() providers.Mode { return o.Transcript.Request.Mode }

// ok reports a 2xx status.
func (o *Observation) ok() bool { return o.Transcript.Status >= 200 && o.Transcript.Status < 300 }

// Rule is what the checks have to know of a rule of the contract.
type Rule struct {
	Cross         bool // it compares the output with the input or the reference
	Normalisation bool // it is about units, currencies, numbers or dates
	Quotation     bool // it is about values that must stand in the input
}

// RoundTrip is one case sent through a job service: what was judged, and what
// was stored.
type RoundTrip struct {
	Case    string
	Judged  json.RawMessage
	Stored  json.RawMessage
	Problem string // why there is no stored result
}

// Run is everything that the checks look at.
type Run struct {
	Protocol     providers.Protocol
	Threshold    float64             // lower bound that the plan demands of statistical checks
	Severities   map[string]Severity // overrides of the contract
	Rules        map[string]Rule     // by id
	KeyOrder     []string            // declared order of the top-level keys, empty for none
	FirstByte    time.Duration       // budget of the contract, 0 for none
	Keyed        bool                // a key was sent
	Observations []*Observation
	RoundTrips   []RoundTrip    // nil: no job service took part
	Primary      []*Observation // what the primary answered to probe Trigger, asked twice; nil: there is none
	Delta        float64        // points of F1 that a candidate may lose to the primary
	Inconclusive float64        // share of inconclusive cases that a pass may have
	// Same tells whether two outputs are equal under a relation of the contract.
	Same   func(relation string, a, b json.RawMessage) bool
	Prompt *Prompt // nil: the profile does not say how prompts are rendered

	common map[string]bool // owners of faults that ordinary requests meet
}

// of lists the observations of some probes.
func (r *Run) of(probes ...Probe) []*Observation {
	var found []*Observation
	for _, o := range r.Observations {
		for _, p := range probes {
			if o.Probe == p {
				found = append(found, o)
			}
		}
	}
	return found
}
