package certify

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/archive"
	"github.com/interlock-harness/interlock/providers/certificate"
	"github.com/interlock-harness/interlock/providers/check"
	"github.com/interlock-harness/interlock/providers/contract"
)

// Names of the files of a bundle: everything that is needed to come to the verdict
// of a run again, without the provider.
const (
	bundleFile      = "bundle.json"
	planFile        = "plan.json"
	transcriptsFile = "transcripts.jsonl"
	primaryFile     = "primary.jsonl"
	roundTripsFile  = "roundtrips.json"
	certificateFile = "certificate.dsse.json"
	contractsFolder = "contracts"
)

// bundle is bundle.json: what the files are about.
type bundle struct {
	Version  int                   `json:"version"`
	Profile  providers.Profile     `json:"profile"`
	Contract string                `json:"contract"` // id; its files lie in contracts/ID
	Mode     certificate.Mode      `json:"mode"`
	Started  certificate.Time      `json:"started"`
	Ended    certificate.Time      `json:"ended"`
	Prompts  certificate.Time      `json:"prompts_at,omitzero"` // when prompts were examined
	Stopped  *Stopped              `json:"stopped_early,omitempty"`
	Results  []check.Result        `json:"results"`
	Verdict  Verdict               `json:"verdict"`
	Primary  *providers.Profile    `json:"primary,omitempty"`
	Key      certificate.PublicKey `json:"key,omitzero"` // by which the certificate is signed
}

// bundleVersion of the format.
const bundleVersion = 1

// Bundle collects the evidence of the run. contracts holds the contract's folder at
// dir; envelope is the certificate, nil where nothing was signed.
func (r *Report) Bundle(contracts fs.FS, dir string, envelope []byte, key certificate.PublicKey) (map[string][]byte, error) {
	files := map[string][]byte{}
	id := r.options.Contract.ID
	err := fs.WalkDir(contracts, dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := fs.ReadFile(contracts, name)
		files[path.Join(contractsFolder, id, strings.TrimPrefix(strings.TrimPrefix(name, dir), "/"))] = data
		return err
	})
	if err != nil {
		return nil, err
	}
	b := bundle{
		Version: bundleVersion, Profile: r.options.Profile, Contract: id, Mode: r.Mode, Started: r.Started, Ended: r.Ended,
		Stopped: r.Stopped, Results: r.Results, Verdict: r.Verdict,
	}
	if r.options.Prompt != nil {
		b.Prompts = r.promptsAt
	}
	if r.options.Primary != nil {
		b.Primary = &r.options.Primary.Profile
	}
	if envelope != nil {
		files[certificateFile], b.Key = envelope, key
	}
	for name, v := range map[string]any{bundleFile: b, planFile: r.Plan, roundTripsFile: r.RoundTrips} {
		if files[name], err = json.MarshalIndent(v, "", "  "); err != nil {
			return nil, err
		}
	}
	if err := r.promptFiles(files); err != nil {
		return nil, err
	}
	if files[transcriptsFile], err = Transcripts(r.Observations); err != nil {
		return nil, err
	}
	files[primaryFile], err = Transcripts(r.Primary)
	return files, err
}

// Rechecked is what came of a bundle when its verdict was computed anew.
type Rechecked struct {
	Profile, Contract string
	Mode              certificate.Mode
	Verdict           Verdict // computed anew
	Results           []check.Result
	Transcripts       int
	Signed            bool   // the certificate is there and its signature fits the key that the bundle names
	Key               string // that key
	Envelope          []byte
	Problems          []string // what does not agree, one sentence each
}

// ErrBundle is the error of files that are no bundle of a run.
var ErrBundle = errors.New("no bundle of a run")

// Recheck judges every transcript of a bundle anew, runs all checks over them, and
// compares what comes out with what the bundle and its certificate state.
func Recheck(files map[string][]byte) (*Rechecked, error) {
	var b bundle
	var p Plan
	var trips []check.RoundTrip
	for name, to := range map[string]any{bundleFile: &b, planFile: &p, roundTripsFile: &trips} {
		if err := decodeFile(files, name, to); err != nil {
			return nil, err
		}
	}
	if b.Version != bundleVersion {
		return nil, fmt.Errorf("%w: version %d of the format is not known", ErrBundle, b.Version)
	}
	fsys, dir := archive.FS(files), path.Join(contractsFolder, b.Contract)
	c, err := contract.Load(fsys, dir)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBundle, err)
	}
	facts, err := certificate.ReadContract(fsys, dir)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBundle, err)
	}
	again := &Rechecked{Profile: b.Profile.Name, Contract: c.Ref(), Mode: b.Mode}
	r := &Report{Mode: b.Mode, Plan: p, options: Options{Profile: b.Profile, Contract: c, Facts: facts, Mode: b.Mode}}
	if r.Observations, err = observations(files[transcriptsFile], c, b.Profile); err != nil {
		again.problem("%s: %v", transcriptsFile, err)
		return again, nil
	}
	primary := b.Profile
	if b.Primary != nil {
		primary = *b.Primary
	}
	if r.Primary, err = observations(files[primaryFile], c, primary); err != nil {
		again.problem("%s: %v", primaryFile, err)
		return again, nil
	}
	again.Transcripts = len(r.Observations)
	again.plan(p, r.Observations, b.Stopped != nil)
	run := r.options.checks(r.Observations)
	run.Primary, run.RoundTrips = r.Primary, trips
	if run.Prompt, err = again.promptAgain(files, b, r, p); err != nil {
		again.problem("the prompts cannot be examined anew: %v", err)
		return again, nil
	}
	again.Results = check.Judge(run)
	again.compare(b)
	again.Verdict = verdict(again.Results, c.Must)
	if b.Verdict == NotKnown && again.Verdict == Certified { // a part of a plan
		again.Verdict = NotKnown
	}
	if again.Verdict != b.Verdict {
		again.problem("the verdict is %s, the bundle says %s", again.Verdict, b.Verdict)
	}
	again.certificate(files[certificateFile], b, r, facts)
	return again, nil
}

func decodeFile(files map[string][]byte, name string, to any) error {
	data, ok := files[name]
	if !ok {
		return fmt.Errorf("%w: %s is missing", ErrBundle, name)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return fmt.Errorf("%w: %s: %v", ErrBundle, name, err)
	}
	return nil
}

func (a *Rechecked) problem(format string, args ...any) {
	a.Problems = append(a.Problems, fmt.Sprintf(format, args...))
}

// plan makes sure that the plan is the one that was registered, and that each of
// its requests is there once: none left out, none repeated, none picked.
func (a *Rechecked) plan(p Plan, seen []*check.Observation, stopped bool) {
	if stated := p.SHA256; stated != p.digest() {
		a.problem("%s was changed: its digest is another one", planFile)
	}
	type key struct {
		probe  check.Probe
		name   string
		repeat int
		mode   providers.Mode
		stream bool
	}
	left := map[key]int{}
	for _, c := range p.Calls {
		left[key{c.Probe, c.Case, c.Repeat, c.Mode, c.Stream}]++
	}
	for _, o := range seen {
		k := key{o.Probe, o.Case, o.Repeat, o.Mode(), o.Stream()}
		if o.Probe == check.Twin {
			continue
		}
		if left[k]--; left[k] < 0 {
			a.problem("case %s of probe %s, answer %d, is not in the plan, or is there twice", o.Case, o.Probe, o.Repeat)
			return
		}
	}
	for k, n := range left {
		if n > 0 && (!stopped || k.probe != check.Base) {
			a.problem("case %s of probe %s, answer %d, is in the plan and not among the transcripts", k.name, k.probe, k.repeat)
			return
		}
	}
}

// compare puts the results beside those that the bundle states.
func (a *Rechecked) compare(b bundle) {
	for _, now := range a.Results {
		at := slices.IndexFunc(b.Results, func(r check.Result) bool { return r.ID == now.ID })
		if at < 0 {
			a.problem("check %s is missing from the bundle", now.ID)
			continue
		}
		then := b.Results[at]
		if now.Verdict != then.Verdict || now.N != then.N || now.Passes != then.Passes || now.Inconclusive != then.Inconclusive ||
			now.Lower95 != then.Lower95 || now.Threshold != then.Threshold || now.Severity != then.Severity {
			a.problem("check %s is %s with %d of %d cases, the bundle says %s with %d of %d",
				now.ID, now.Verdict, now.Passes, now.N, then.Verdict, then.Passes, then.N)
		}
	}
}

// certificate compares what is signed with what was computed.
func (a *Rechecked) certificate(envelope []byte, b bundle, r *Report, facts certificate.Contract) {
	if envelope == nil {
		return
	}
	a.Envelope, a.Key = envelope, b.Key.String()
	s, err := certificate.Verify(envelope, b.Key)
	if err != nil {
		a.problem("%s: %v", certificateFile, err)
		return
	}
	a.Signed = true
	for what, pair := range map[string][2]string{
		"profile":     {s.Bound(certificate.SubjectProfile + "/" + b.Profile.Name), certificate.ProfileDigest(b.Profile)},
		"contract":    {s.Bound(certificate.SubjectContract + "/" + a.Contract), facts.Digest},
		"fixtures":    {s.Bound(certificate.SubjectFixtures), facts.Fixtures},
		"transcripts": {s.Bound(certificate.SubjectTranscripts), r.root()},
		"plan":        {s.Predicate.Plan.SHA256, r.Plan.SHA256},
	} {
		if pair[0] != pair[1] {
			a.problem("the certificate is about another %s", what)
		}
	}
	for _, k := range s.Predicate.Checks {
		at := slices.IndexFunc(a.Results, func(r check.Result) bool { return r.ID == k.ID })
		if at < 0 || string(a.Results[at].Verdict) != string(k.Verdict) || a.Results[at].Passes != k.Passes || a.Results[at].N != k.N {
			a.problem("the certificate states check %s as %s with %d of %d cases, which the transcripts do not give", k.ID, k.Verdict, k.Passes, k.N)
		}
	}
}
