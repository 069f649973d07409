package certify

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/certificate"
	"github.com/interlock-harness/interlock/providers/check"
	"github.com/interlock-harness/interlock/providers/contract"
)

// Plan is what will be done, fixed before it is done.
type Plan struct {
	SHA256     string           `json:"sha256"` // of the rest
	Registered certificate.Time `json:"registered"`
	Suite      string           `json:"suite"`
	Profile    string           `json:"profile_sha256"`
	Contract   string           `json:"contract_sha256"`
	Fixtures   string           `json:"fixtures_sha256"`
	Mode       certificate.Mode `json:"mode"`
	Cases      int              `json:"cases"`
	Repeats    int              `json:"repeats"`
	Lower95    string           `json:"lower95"`
	Cap        string           `json:"inconclusive"` // share of inconclusive cases that a pass may have
	Delta      string           `json:"delta"`        // points of F1 that may be lost to the primary
	Primary    string           `json:"primary_sha256,omitempty"`
	FollowUp   FollowUp         `json:"follow_up"`
	Early      *Early           `json:"early_stop,omitempty"`
	Checks     []string         `json:"checks"`
	Prompt     *PromptPlan      `json:"prompt,omitempty"` // what is asked about prompts
	Calls      []Call           `json:"calls"`
}

// Call is one request of a plan.
type Call struct {
	N      int            `json:"n"`
	Probe  check.Probe    `json:"probe"`
	Case   string         `json:"case"`
	Repeat int            `json:"repeat"`
	Mode   providers.Mode `json:"mode"`
	Stream bool           `json:"stream"`
	Cap    int64          `json:"max_output_tokens,omitempty"`
	Play   bool           `json:"stand_in,omitempty"` // the stand-in plays it, in mode live too
	asked  *contract.Case // the case, or a copy of it with another input
	change func(*providers.Request)
	wire   func([]byte) []byte
	model  string
	suffix string
	follow string // the relation under which the answer is compared
}

// FollowUp is what is added to a plan when streamed and whole answers to a case
// differ: the case is asked again until each form was tried so many times, for the
// first so many cases. Nothing but check W10 looks at the answers.
type FollowUp struct {
	When  string `json:"when"`
	Cases int    `json:"cases"`
	Tries int    `json:"tries_of_each_form"`
}

// Early is when a sequential plan ends before its last case: Wald's test between
// two pass rates of a case.
type Early struct {
	Good   float64 `json:"good"`
	Bad    float64 `json:"bad"`
	Alpha  float64 `json:"alpha"`       // chance to stop a good provider
	Beta   float64 `json:"beta"`        // chance to let a bad one through
	Accept int     `json:"accept_from"` // cases before which it does not end well
}

// cases are those of the contract, or the ones that were named.
func (o Options) cases() ([]*contract.Case, error) {
	var list []*contract.Case
	for i := range o.Contract.Cases {
		if k := &o.Contract.Cases[i]; len(o.Only) == 0 || slices.Contains(o.Only, k.ID) {
			list = append(list, k)
		}
	}
	for _, id := range o.Only {
		if o.Contract.Case(id) == nil {
			return nil, fmt.Errorf("contract %s has no case %q", o.Contract.Ref(), id)
		}
	}
	return list, nil
}

// spread picks n cases from all over a list.
func spread(cases []*contract.Case, n int) []*contract.Case {
	if len(cases) <= n {
		return cases
	}
	var picked []*contract.Case
	for i := range n {
		picked = append(picked, cases[i*len(cases)/n])
	}
	return picked
}

func other(m providers.Mode) providers.Mode {
	if m == providers.ModeTool {
		return providers.ModeJSONSchema
	}
	return providers.ModeTool
}

func (o Options) plan(calls []Call) (Plan, error) {
	prompt, err := o.promptPlan()
	if err != nil {
		return Plan{}, err
	}
	p := Plan{
		Prompt: prompt,
		Suite:  o.Suite.Version + " " + o.Suite.Revision, Profile: certificate.ProfileDigest(o.Profile), Contract: o.Facts.Digest,
		Fixtures: o.Facts.Fixtures, Mode: o.Mode, Repeats: o.Repeats, Lower95: o.Contract.Plan.Lower95.String(), Calls: calls,
		Cap: number(o.cap()), Delta: number(o.delta()), Early: o.early(),
		FollowUp: FollowUp{"streamed and whole answers to a case each agree and differ from each other", followUpCases, check.FormTries},
	}
	if o.Primary != nil {
		p.Primary = certificate.ProfileDigest(o.Primary.Profile)
	}
	cases := map[string]bool{}
	for _, c := range calls {
		if c.Probe == check.Base {
			cases[c.Case] = true
		}
	}
	p.Cases = len(cases)
	for _, c := range check.All() {
		p.Checks = append(p.Checks, c.ID)
	}
	p.Registered = certificate.At(o.Now())
	p.SHA256 = p.digest()
	return p, nil
}

// digest is over everything else that the plan says.
func (p Plan) digest() string {
	p.SHA256 = ""
	data, err := json.Marshal(p)
	if err != nil {
		panic("certify: " + err.Error()) // strings, numbers and booleans only
	}
	return certificate.Hash(data)
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// What a plan says where the contract does not.
const (
	defaultCap   = 0.02
	defaultDelta = 3
)

func (o Options) cap() float64 {
	if v, err := o.Contract.Plan.Inconclusive.Float64(); err == nil {
		return v
	}
	return defaultCap
}

func (o Options) delta() float64 {
	if v, err := o.Contract.Plan.Delta.Float64(); err == nil {
		return v
	}
	return defaultDelta
}
