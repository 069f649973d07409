package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/certificate"
	"github.com/interlock-harness/interlock/providers/certify"
	"github.com/interlock-harness/interlock/providers/check"
	"github.com/interlock-harness/interlock/providers/contract"
	"github.com/interlock-harness/interlock/providers/standin"
)

// certification is one invocation of certify.
type certification struct {
	s        *streams
	deployed deployed

	contractName       string
	live, recorded     bool
	model              string
	keyFile, issuer    string
	certs, trust, out  string
	valid              time.Duration
	only               []string
	check              string
	maxCalls, parallel int
	timeout            string
	dryRun, selfTest   bool
	bad                string
	withoutJob         bool
	servers            serverFlags
	selfTestProtocol   string
	goodRuns           int
	primaryName        string
	price              price
	recordingsDir      string
	baseURL            string
	bundle             string
	vendorKey          string
	sarifFile          string
	vendor             bool // the profile is that of a public endpoint

	vendorSigner *certificate.Signer

	profile providers.Profile
	primary *providers.Profile
	loaded  *contract.Contract
	facts   certificate.Contract
}

func certifyCommand(s *streams) *cobra.Command {
	c := &certification{s: s}
	cmd := &cobra.Command{
		Use:   "certify PROVIDER --contract CONTRACT",
		Short: "take a provider through the checks and sign what was found",
		Long: `Takes a provider through the checks under a contract. Each request of the plan is
sent once; the plan is written down before the first one.

By default the built-in stand-in of the provider's protocol answers: that proves
the adapter and the contract, not the vendor. With --live the provider itself is
asked, with the key from the environment variable that its profile names.

exit 0 certified, 1 a must check failed, 2 not enough to tell, 3 provider unreachable`,
		Example: `  interlock certify anthropic-demo --contract invoice
  interlock certify anthropic-demo --contract invoice --dry-run
  interlock certify openai --model gpt-x --contract invoice --live
  interlock certify vllm-demo --contract triage --bad system-dropped
  interlock certify --self-test`,
		Args: func(cmd *cobra.Command, args []string) error {
			if c.selfTest {
				return noArguments(cmd, args)
			}
			return exactly(1, "PROVIDER")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), args) },
	}
	f := cmd.Flags()
	f.StringVar(&c.contractName, "contract", "", "id of the contract")
	f.BoolVar(&c.live, "live", false, "ask the provider itself")
	f.BoolVar(&c.recorded, "recorded", false, "play the recordings, and ask the stand-in what they do not hold (the default)")
	f.StringVar(&c.recordingsDir, "recordings", "", "folder of recordings (default: ./"+recordingsFolder+", if it is there)")
	f.StringVar(&c.model, "model", "", "certify this model instead of the profile's")
	f.StringVar(&c.primaryName, "primary", "", "provider that it is to stand in for: its calls are the bar of check F06")
	f.Float64Var(&c.price.input, "price-input", 0, "with --dry-run: price of a million input tokens")
	f.Float64Var(&c.price.output, "price-output", 0, "with --dry-run: price of a million output tokens")
	f.StringVar(&c.baseURL, "base-url", "", "with a vendor: its protocol at another address, such as a gateway")
	f.StringVar(&c.keyFile, "key-file", "", "sign with this key (default: "+defaultKeyFile()+", made when missing)")
	f.StringVar(&c.issuer, "issuer", "interlock-demo", "name of the issuer, as in the trust file")
	f.StringVar(&c.certs, "certs", certificatesFolder(), "folder for the certificate")
	f.StringVar(&c.trust, "trust", "", "trust file, made when missing (default: trust.json beside the certificate)")
	f.StringVar(&c.out, "out", "", "folder for plan, report and transcripts (default ./interlock-out/TIME-certify-PROVIDER)")
	f.StringVar(&c.bundle, "bundle", "", "also pack all evidence of the run into this file, for interlock report FILE --check")
	f.StringVar(&c.sarifFile, "sarif", "", "also write the checks that did not pass into this file, as SARIF 2.1.0")
	f.StringVar(&c.vendorKey, "vendor-key", "", "sign with this key too, as the vendor")
	f.DurationVar(&c.valid, "valid", 0, "life of the certificate, at most 336h (default: the contract's)")
	f.StringSliceVar(&c.only, "case", nil, "only these cases; nothing is signed then")
	f.StringVar(&c.check, "check", "", "show this check only; nothing is signed then")
	f.IntVar(&c.maxCalls, "max-calls", 0, "end after so many requests; nothing is signed then")
	f.IntVar(&c.parallel, "parallel", 4, "requests at once")
	f.StringVar(&c.timeout, "timeout", "10m", "give up after this time")
	f.StringVar(&c.bad, "bad", "", "ask a stand-in that misbehaves as this seeded bad provider; its certificate stays in the folder of the run")
	f.BoolVar(&c.dryRun, "dry-run", false, "show how many requests there would be, and send none")
	f.BoolVar(&c.withoutJob, "no-job-service", false, "leave out the round trip through the job service; check X03 is inconclusive then")
	f.BoolVar(&c.selfTest, "self-test", false, "prove the checks: take every seeded bad provider through them, in every protocol")
	f.StringVar(&c.selfTestProtocol, "protocol", "", "with --self-test: in this protocol only")
	f.IntVar(&c.goodRuns, "good-runs", 0, "with --self-test: so many runs of good providers, each with a seed of its own (default: two in each protocol under each contract)")
	c.servers.postgres(cmd)
	c.deployed.flags(cmd)
	return cmd
}

func (c *certification) run(ctx context.Context, args []string) error {
	limit, err := parseTimeout(c.timeout)
	if err != nil {
		return err
	}
	if err := c.servers.check(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if c.selfTest {
		return c.runSelfTest(ctx)
	}
	if c.goodRuns != 0 {
		return usagef("--good-runs goes with --self-test")
	}
	if c.selfTestProtocol != "" {
		return usagef("--protocol goes with --self-test; the protocol of a provider stands in its profile")
	}
	if err := c.prepare(args[0]); err != nil {
		return err
	}
	o, err := c.options()
	if err != nil {
		return err
	}
	if c.dryRun {
		return c.showPlan(o)
	}
	signer, err := c.signer()
	if err != nil {
		return err
	}
	if c.vendorKey != "" {
		if c.vendorSigner, err = certificate.ReadKeyFile(c.vendorKey); err != nil {
			return keyFileError(err)
		}
	}
	out, err := c.folder()
	if err != nil {
		return err
	}
	if c.vendor { // to be deployed, so that a gate can compare it with the certificate
		if err := writeWhole(filepath.Join(out, c.profile.Name+".yaml"), profileText(c.profile), 0o644); err != nil {
			return infrastructuref("write the profile: %v", err)
		}
	}
	progress := c.s.progress()
	o.Registered = func(p certify.Plan) error { return writeJSON(out, "plan.json", p) }
	o.Progress = func(done, all int) { progress.set(fmt.Sprintf("%d/%d requests", done, all)) }
	if !c.withoutJob && len(c.only) == 0 && c.check == "" {
		o.RoundTrip = func(ctx context.Context, o certify.Options) ([]check.RoundTrip, error) {
			progress.set("through the job service")
			return c.roundTrip(ctx, o)
		}
	}
	report, err := certify.Run(ctx, o)
	progress.clear()
	if err != nil {
		c.keepAnswers(ctx, report, out)
		return c.failed(ctx, err)
	}
	return c.finish(report, out, signer)
}

// keepAnswers leaves what was answered before the run ended too early: each answer may
// have cost money.
func (c *certification) keepAnswers(ctx context.Context, r *certify.Report, out string) {
	what := "the plan of the run is in " + shellWord(out)
	if r != nil && len(r.Observations) > 0 {
		if err := writeTranscripts(out, r.Observations); err != nil {
			_, _ = fmt.Fprintf(c.s.err, "The answers of this run could not be written: %s\n", printable(err.Error()))
		} else {
			what = fmt.Sprintf("the plan of the run and %s that had come are in %s", plural(len(r.Observations), "answer"), shellWord(out))
		}
	}
	if word := endWord(ctx); word != "" {
		_, _ = fmt.Fprintf(c.s.err, "%s: nothing was signed; %s.\n", word, what)
	}
}

// failed says why there is no report at all.
func (c *certification) failed(ctx context.Context, err error) error {
	var away *certify.UnreachableError
	var stale *certify.StaleError
	if by, ended := endedBy(ctx); ended {
		return by
	}
	switch {
	case errors.As(err, &stale):
		return usagef("%v; record it anew", stale)
	case errors.As(err, &away):
		return infrastructuref("%s cannot be certified: %v", c.profile.Name, away)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return infrastructuref("%s could not be certified within %s; --timeout allows more", c.profile.Name, c.timeout)
	}
	return brokenOff(ctx, "certify: %v", err)
}

// prepare checks what was asked for, before anything is done.
func (c *certification) prepare(name string) error {
	all, err := c.deployed.profiles()
	if err != nil {
		return err
	}
	if c.profile, err = c.route(all, name); err != nil {
		return err
	}
	if c.model != "" {
		c.profile.Model = c.model
	}
	if c.baseURL != "" {
		if err := c.elsewhere(); err != nil {
			return err
		}
	}
	if c.primaryName != "" {
		p, err := provider(all, c.primaryName)
		if err != nil {
			return err
		}
		if p.Name == c.profile.Name {
			return usagef("--primary is another provider than the one that is certified")
		}
		c.primary = &p
	}
	switch {
	case c.contractName == "":
		return usagef("certify needs --contract; interlock certify --help shows an example")
	case c.live && c.recorded:
		return usagef("--live and --recorded exclude each other")
	case c.valid < 0 || c.valid > certify.Life:
		return usagef("--valid is %s, but must be above zero and at most %s", c.valid, certify.Life)
	case c.price.input < 0 || c.price.output < 0:
		return usagef("a price is not negative")
	case c.maxCalls < 0 || c.parallel < 1 || c.parallel > 64:
		return usagef("--max-calls is not negative, and --parallel is 1 to 64")
	}
	if c.bad != "" && c.live {
		return usagef("--bad makes a stand-in misbehave, and --live asks the provider itself")
	}
	if c.loaded, c.facts, err = c.deployed.contract(c.contractName); err != nil {
		return err
	}
	if c.facts.Name() != c.contractName && c.facts.ID != c.contractName {
		return usagef("contract %s is not deployed; %s is", c.contractName, c.facts.Name())
	}
	if c.check != "" {
		if _, ok := check.ByID(c.check); !ok {
			return usagef("no check %q.%s", c.check, didYouMean(c.check, checkIDs()))
		}
	}
	return nil
}

func checkIDs() []string {
	var ids []string
	for _, k := range check.All() {
		ids = append(ids, k.ID)
	}
	return ids
}

func (c *certification) options() (certify.Options, error) {
	info := readBuildInfo()
	o := certify.Options{
		Profile: c.profile, Contract: c.loaded, Facts: c.facts, Mode: certificate.Replay,
		Suite:    certificate.Suite{Version: info.Version, Revision: info.Revision, Dirty: info.Modified},
		Parallel: c.parallel, MaxCalls: c.maxCalls, Only: c.only,
	}
	var err error
	if o.Prompt, err = c.deployed.prompt(c.profile); err != nil {
		return o, err
	}
	if c.bad != "" {
		if o.Fault, err = standin.BadProvider(c.bad); err != nil {
			return o, usagef("%v.%s", err, didYouMean(c.bad, standin.BadProviders()))
		}
		if o.Fault.Prompt != "" && (o.Prompt == nil || o.Prompt.Profile.Oracle == "") {
			return o, usagef("%s neither shows nor counts prompts, so --bad %s would not be seen; vllm-demo does", c.profile.Name, c.bad)
		}
	}
	for _, id := range c.only {
		if c.loaded.Case(id) == nil {
			var known []string
			for _, k := range c.loaded.Cases {
				known = append(known, k.ID)
			}
			return o, usagef("contract %s has no case %q.%s", c.loaded.Ref(), id, didYouMean(id, known))
		}
	}
	if c.primary != nil {
		o.Primary = &certify.Primary{Profile: *c.primary}
	}
	if !c.live {
		var err error
		o.Recordings, err = c.recordings()
		return o, err
	}
	o.Mode = certificate.Live
	if o.Secret, err = c.secret(c.profile); err == nil && c.primary != nil {
		o.Primary.Secret, err = c.secret(*c.primary)
	}
	return o, err
}

// secret is the key of a provider, from the environment variable that its profile
// names.
func (c *certification) secret(p providers.Profile) (string, error) {
	if p.Auth.Env == "" || c.dryRun {
		return "", nil
	}
	key := os.Getenv(p.Auth.Env)
	if key == "" {
		return "", usagef("--live needs the key of %s in the environment variable %s", p.Name, p.Auth.Env)
	}
	return key, nil
}
