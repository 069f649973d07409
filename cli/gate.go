package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/certificate"
)

// outFolder is where commands write what was not given a place.
const outFolder = "interlock-out"

// certificatesFolder is where certify writes and gate reads unless told
// otherwise: certificates, the trust file and the gate's memory.
func certificatesFolder() string { return filepath.Join(outFolder, "certificates") }

type gateOptions struct {
	deployed            deployed
	providers           map[string]providers.Profile
	contracts           map[string]certificate.Contract
	from, to, contract  string
	certs, trust, state string
	at                  string
	wait                time.Duration
	waiting             func(certificate.Answer) // told once, before the first wait
	matrix, explain     bool
	detailed            bool
	html                string
	mode, language      string
	stream              bool
	input               int64
}

func gateCommand(s *streams) *cobra.Command {
	o := &gateOptions{}
	cmd := &cobra.Command{
		Use:   "gate --from PROVIDER --to PROVIDER --contract CONTRACT",
		Short: "may one provider fail over to another? exit 0 is yes, everything else is no",
		Example: `  interlock gate --from openai-demo --to anthropic-demo --contract invoice
  interlock gate --matrix`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), s) },
	}
	f := cmd.Flags()
	f.StringVar(&o.from, "from", "", "the provider that fails")
	f.StringVar(&o.to, "to", "", "the provider that would take over")
	f.StringVar(&o.contract, "contract", "", "id of the contract, or id@version")
	f.StringVar(&o.certs, "certs", certificatesFolder(), "folder of certificates, or one file")
	f.StringVar(&o.trust, "trust", "", "trust file (default: trust.json beside the certificates)")
	f.StringVar(&o.state, "state", "", "file in which the gate remembers what it saw (default: beside the certificates)")
	f.StringVar(&o.at, "at", "", "answer as of this time, such as 2026-12-24T12:00:00Z or +48h")
	f.DurationVar(&o.wait, "wait", 0, "wait so long for a yes")
	f.BoolVar(&o.matrix, "matrix", false, "show all providers and contracts instead")
	f.StringVar(&o.html, "html", "", "with --matrix: write it as a page into this file, too")
	f.BoolVar(&o.explain, "explain", false, "show what the answer rests on")
	f.BoolVar(&o.detailed, "detailed-exit", false, "exit 10 none, 11 expired, 12 drift, 13 signature, 14 scope, 15 replay-only, 16 revoked instead of 2")
	f.StringVar(&o.mode, "mode", "", "the request needs this output mode: json_schema or tool")
	f.BoolVar(&o.stream, "stream", false, "the request needs streaming")
	f.StringVar(&o.language, "language", "", "the request is in this language, such as ml")
	f.Int64Var(&o.input, "input-tokens", 0, "the request has so many tokens")
	o.deployed.flags(cmd)
	return cmd
}

func (o *gateOptions) run(ctx context.Context, s *streams) error {
	at, asOf, err := o.time()
	if err != nil {
		return err
	}
	if err := o.check(); err != nil {
		return err
	}
	if o.providers, err = o.deployed.profiles(); err != nil {
		return err
	}
	if o.contracts, err = o.deployed.gateFacts(o.contract); err != nil {
		return err
	}
	if o.matrix {
		gate, err := o.gate()
		if err != nil {
			return err
		}
		if o.html != "" {
			list, open, all := o.gateSections(gate, at)
			if err := o.writeGate(list, open, all, at); err != nil {
				return err
			}
		}
		return o.showMatrix(s, gate, at)
	}
	for _, name := range []string{o.from, o.to} {
		if _, err := provider(o.providers, name); err != nil {
			return err
		}
	}
	o.waiting = func(a certificate.Answer) {
		if !s.quiet {
			_, _ = fmt.Fprintf(s.err, "waiting up to %s for a yes; now: %s\n", o.wait, printable(a.Because()))
		}
	}
	answer, err := o.ask(ctx, at, asOf)
	if err != nil {
		return err
	}
	return o.show(s, answer)
}

func (o *gateOptions) check() error {
	switch {
	case o.matrix && (o.from != "" || o.to != ""):
		return usagef("--matrix shows all providers: leave --from and --to out")
	case o.matrix && (o.wait != 0 || o.explain || o.detailed):
		return usagef("--matrix shows all answers as they are: leave --wait, --explain and --detailed-exit out, or ask with --from and --to")
	case o.matrix && (o.mode != "" || o.stream || o.language != "" || o.input != 0):
		return usagef("--matrix asks for no request in particular: leave --mode, --stream, --language and --input-tokens out, or ask with --from and --to")
	case o.at != "" && o.wait != 0:
		return usagef("--at asks about another time, and --wait waits for now: leave one of them out")
	case o.html != "" && !o.matrix:
		return usagef("--html goes with --matrix")
	case o.matrix:
		return nil
	case o.from == "" || o.to == "" || o.contract == "":
		return usagef("gate needs --from, --to and --contract; interlock gate --help shows an example")
	case o.from == o.to:
		return usagef("--from and --to are both %s: a failover goes to another provider", o.from)
	case o.mode != "" && o.mode != string(providers.ModeJSONSchema) && o.mode != string(providers.ModeTool):
		return usagef("--mode is %q, but must be json_schema or tool", o.mode)
	case o.wait < 0 || o.input < 0:
		return usagef("--wait and --input-tokens are not negative")
	}
	return nil
}

// time reads --at: a moment, a day, or a distance from now.
func (o *gateOptions) time() (at time.Time, asOf bool, err error) {
	now := time.Now()
	if o.at == "" {
		return now, false, nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(layout, o.at); err == nil {
			return t, true, nil
		}
	}
	if d, err := time.ParseDuration(o.at); err == nil && (o.at[0] == '+' || o.at[0] == '-') {
		return now.Add(d), true, nil
	}
	return now, false, usagef("--at is %q, but must be a time such as 2026-12-24T12:00:00Z, a day or a distance such as +48h", o.at)
}

func (o *gateOptions) sources() certificate.Sources {
	dir := o.certs
	if info, err := os.Stat(o.certs); err == nil && !info.IsDir() {
		dir = filepath.Dir(o.certs)
	}
	src := certificate.SourcesIn(dir)
	src.Certificates = o.certs
	if o.trust != "" {
		src.Trust = o.trust
	}
	if o.state != "" {
		src.Seen = o.state
	}
	return src
}

func (o *gateOptions) gate() (*certificate.Gate, error) {
	e, err := o.sources().Read()
	if err != nil {
		return nil, infrastructuref("gate: %v", err)
	}
	e.Profiles, e.Contracts = o.providers, o.contracts
	if built, ok := buildTime(); ok {
		e.Floor = built
	}
	return certificate.NewGate(e), nil
}

// ask answers now, or waits for a yes.
func (o *gateOptions) ask(ctx context.Context, at time.Time, asOf bool) (certificate.Answer, error) {
	begin := time.Now()
	for {
		gate, err := o.gate()
		if err != nil {
			return certificate.Answer{}, err
		}
		q := certificate.Question{
			From: o.from, To: o.to, Contract: o.contract, At: at, AsOf: asOf,
			Needs: certificate.Needs{Mode: providers.Mode(o.mode), Stream: o.stream, Input: o.input, Language: o.language},
		}
		if !asOf {
			q.At = time.Now()
		}
		answer := gate.Ask(q)
		if !asOf {
			o.remember(gate, q.At)
		}
		left := o.wait - time.Since(begin)
		if answer.Allow || left <= 0 {
			return answer, nil
		}
		if o.waiting != nil {
			o.waiting(answer)
			o.waiting = nil
		}
		timer := time.NewTimer(min(left, 250*time.Millisecond))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return answer, ctx.Err()
		}
	}
}

// remember keeps what the gate saw. Where that cannot be written the answer
// stands: the next one says that it has no memory.
func (o *gateOptions) remember(gate *certificate.Gate, now time.Time) {
	if len(gate.List()) == 0 {
		return
	}
	file := o.sources().Seen
	seen := gate.Seen(now)
	if data, err := certificate.ReadRegular(file); err == nil {
		if old, err := certificate.ReadSeen(data); err == nil && old.Equal(seen) {
			return
		}
	}
	_ = writeWhole(file, seen.Write(), 0o644)
}

// writeWhole writes a file under its name only when it is complete.
func writeWhole(file string, data []byte, mode os.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

func (o *gateOptions) show(s *streams, a certificate.Answer) error {
	code := a.Exit
	if o.detailed {
		code = a.Detailed
	}
	if s.json {
		if err := json.NewEncoder(s.out).Encode(a); err != nil {
			return infrastructuref("write: %v", err)
		}
		return exitWith(code)
	}
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintf(table, "from\tto\tcontract\tanswer\tbecause\n%s\t%s\t%s\t%s\t%s\n", a.From, a.To, a.Contract, a.Answer, a.Because())
	_ = table.Flush()
	may := "may"
	if !a.Allow {
		may = "may not"
	}
	asOf := ""
	if a.AsOf {
		asOf = fmt.Sprintf(" as of %s", a.At)
	}
	_, _ = fmt.Fprintf(&b, "\n%s %s fail over to %s for %s%s.\n", a.From, may, a.To, a.Contract, asOf)
	writeRemedies(&b, a, o.explain)
	for _, n := range a.Notes {
		_, _ = fmt.Fprintf(&b, "Note:   %s\n", n)
	}
	if o.explain {
		writeEvidence(&b, a)
	}
	if code != 0 {
		_, _ = fmt.Fprintf(&b, "exit %d (%s)\n", code, map[int]string{1: "evidence says no", 2: "no usable evidence", 3: "evidence cannot be read"}[a.Exit])
	}
	if _, err := fmt.Fprint(s.out, printable(b.String())); err != nil {
		return infrastructuref("write: %v", err)
	}
	return exitWith(code)
}

// further is how many reasons follow the first one where nobody asked for all.
const further = 3

// writeRemedies writes further reasons, and each remedy once.
func writeRemedies(b *strings.Builder, a certificate.Answer, all bool) {
	said := ""
	for i, r := range a.Reasons {
		if left := len(a.Reasons) - i; i > further && left > 1 && !all {
			_, _ = fmt.Fprintf(b, "Also:   %d more reasons, which --explain shows\n", left)
			return
		}
		if i > 0 {
			_, _ = fmt.Fprintf(b, "Also:   %s\n", r.Sentence)
		}
		if r.Remedy != "" && r.Remedy != said {
			word := "Do:   "
			if r.Code == certificate.Expired {
				word = "Renew:"
			}
			_, _ = fmt.Fprintf(b, "%s  %s\n", word, r.Remedy)
			said = r.Remedy
		}
	}
}

func writeEvidence(b *strings.Builder, a certificate.Answer) {
	if a.Certificate == "" {
		_, _ = fmt.Fprintf(b, "\nNo certificate decided.\n")
		return
	}
	_, _ = fmt.Fprintf(b, "\nThe answer rests on\n")
	row := func(name, value string) { _, _ = fmt.Fprintf(b, "  %-12s %s\n", name, value) }
	row("file", a.File)
	row("statement", "sha256 "+a.Certificate)
	row("signed by", a.Issuer)
	row("serial", fmt.Sprint(a.Serial))
	row("mode", string(a.Mode))
	row("valid until", a.NotAfter.String())
	row("asked at", a.At.String())
	for _, c := range a.Checked {
		row(c.Name, c.Value)
	}
}
