package certificate

import (
	"fmt"
	"slices"
	"strings"
)

// asking is one question on its way to an answer.
type asking struct {
	*Gate
	q     Question
	c     Contract
	known bool // the contract is deployed at the version asked for
	a     *Answer
}

func (x *asking) deny(r Reason) {
	if r.Remedy == "" {
		r.Remedy = x.certifyCommand(x.q.To, x.c.ID)
	}
	x.a.Reasons = append(x.a.Reasons, r)
}

func (x *asking) note(format string, args ...any) {
	x.a.Notes = append(x.a.Notes, fmt.Sprintf(format, args...))
}

// decide collects the reasons. What is wrong with the evidence as a whole, or
// with the bytes of a certificate, ends the search: nothing else can be believed
// then. All further reasons are collected, so that a person sees all of them.
func (x *asking) decide() {
	if !x.clock() || !x.memory() {
		return
	}
	e := x.choose()
	if e == nil {
		return
	}
	x.describe(e)
	if e.denied != nil {
		x.deny(*e.denied)
		return
	}
	x.rollback(e)
	x.revoked(e)
	x.time(e.statement.Predicate)
	x.subjects(e.statement)
	x.mode(e.statement.Predicate)
	x.scope(e.statement.Predicate)
	x.partners(e.statement.Predicate)
	x.checks(e.statement.Predicate)
	if why, ok := x.evidence.Suspected[x.q.To]; ok {
		x.deny(because(Drift, "%s is suspected to have changed since it was certified: %s", x.q.To, why))
	}
}

func (x *asking) describe(e *entry) {
	p := e.statement.Predicate
	x.a.Checked = p.facts()
	x.a.Certificate, x.a.File, x.a.Mode, x.a.Serial, x.a.NotAfter = e.digest, e.file, p.Mode, p.Serial, p.NotAfter
	if i := x.evidence.Trust.issuer(firstKey(e.keys), e.profile, x.c.ID); i != nil {
		x.a.Issuer = i.Name
	}
}

// facts are what a person wants to know of a certificate.
func (p Predicate) facts() []Fact {
	passed := 0
	for _, k := range p.Checks {
		if k.Verdict == Pass {
			passed++
		}
	}
	return []Fact{
		{"route", p.Protocol + ", model " + p.Model},
		{"plan", fmt.Sprintf("%d cases, %d repeats, %d calls, from %s to %s", p.Plan.Cases, p.Plan.Repeats, p.Plan.Calls, p.Started, p.Ended)},
		{"checks", fmt.Sprintf("%d of %d pass", passed, len(p.Checks))},
		{"scope", fmt.Sprintf("modes %s; streaming %t; up to %d input tokens; languages %s",
			strings.Join(p.Scope.Modes, ", "), p.Scope.Streaming, p.Scope.MaxInput, strings.Join(p.Scope.Languages, ", "))},
		{"suite", p.Suite.Version + " " + p.Suite.Revision},
	}
}

func firstKey(keys []PublicKey) PublicKey {
	if len(keys) == 0 {
		return PublicKey{}
	}
	return keys[0]
}

func (x *asking) clock() bool {
	floor, what := x.evidence.Floor, "this program was built"
	if s := x.evidence.Seen; s != nil && s.Newest.After(floor) {
		floor, what = s.Newest.Time, "a certificate that was seen before began"
	}
	if x.q.AsOf || !x.q.At.Before(floor) {
		return true
	}
	x.deny(because(Clock, "the clock says %s, but %s at %s", At(x.q.At), what, At(floor)).
		mend("set the clock of this machine"))
	return false
}

func (x *asking) memory() bool {
	if x.evidence.Seen != nil {
		return true
	}
	if x.evidence.NeedSeen {
		x.deny(because(StateMissing, "what was seen before is lost, so a certificate that was put back could not be told from the newest").
			mend("restore the state, or accept the certificates that are there as the newest"))
		return false
	}
	if len(x.evidence.Files) == 0 {
		return true // nothing that could be older than something
	}
	x.note("no memory of earlier certificates: one that was put back in the place of a newer one would not be seen")
	return true
}

// choose finds the certificate that decides: among those of trusted keys the
// newest, whatever it says. Without one it denies with the best reason there is.
func (x *asking) choose() *entry {
	if x.evidence.Trust == nil {
		if len(x.evidence.Files) == 0 {
			x.deny(because(NoCertificate, "no certificate of %s for %s", x.q.To, x.a.Contract))
			return nil
		}
		x.deny(because(TrustMissing, "the trust file cannot be read: %v", x.evidence.TrustErr).
			mend("name a trust file with --trust FILE"))
		return nil
	}
	list := x.byRoute[x.q.To+" "+x.c.Name()]
	if sound := slices.DeleteFunc(slices.Clone(list), func(e *entry) bool { return e.exposed }); len(sound) > 0 {
		list = sound // a stolen key does not outvote its successor
	}
	if x.broken > 0 && len(list) > 0 {
		x.note("%d other file(s) in the folder cannot be used", x.broken)
	}
	if len(list) == 0 {
		x.deny(x.whyNone())
		return nil
	}
	newest := list[0]
	for _, e := range list[1:] {
		switch order := newer(e, newest); {
		case order > 0:
			newest = e
		case order == 0 && e.digest != newest.digest:
			x.deny(because(Tie, "two different certificates of %s for %s claim serial %d (%q and %q)",
				x.q.To, x.c.Name(), e.statement.Predicate.Serial, newest.file, e.file))
			return nil
		}
	}
	return newest
}

// newer compares serials where one key counts, else the beginnings.
func newer(a, b *entry) int {
	p, q := a.statement.Predicate, b.statement.Predicate
	if a.sequence() == b.sequence() {
		return compare(p.Serial, q.Serial)
	}
	return p.NotBefore.Compare(q.NotBefore.Time)
}

func compare(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// whyNone picks the file that most likely was meant to answer the question.
func (x *asking) whyNone() Reason {
	var other, broken, unreadable *entry
	for _, e := range x.entries {
		id, _ := version(e.contract)
		mine := e.profile == x.q.To && id == x.c.ID
		switch {
		case e.denied != nil && e.denied.Code == Unreadable:
			unreadable = first(unreadable, e)
		case mine && e.denied == nil:
			other = first(other, e)
		case mine && e.contract == x.c.Name():
			return *e.denied
		case e.denied != nil && (mine || !x.deployed(e.profile, id)):
			broken = first(broken, e)
		}
	}
	switch {
	case other != nil:
		return because(WrongContract, "the certificate of %s is for %s, asked for is %s", x.q.To, other.contract, x.a.Contract)
	case broken != nil:
		return *broken.denied
	case unreadable != nil:
		return *unreadable.denied
	}
	return because(NoCertificate, "no certificate of %s for %s", x.q.To, x.a.Contract)
}

func first(have, e *entry) *entry {
	if have != nil {
		return have
	}
	return e
}

func (x *asking) deployed(profile, contract string) bool {
	_, p := x.evidence.Profiles[profile]
	_, c := x.evidence.Contracts[contract]
	return p && c
}

func (x *asking) rollback(e *entry) {
	s := x.evidence.Seen
	if s == nil {
		return
	}
	if highest := s.Serials[e.sequence()]; e.statement.Predicate.Serial < highest {
		x.deny(because(RolledBack, "the certificate of %s has serial %d, but %d was seen before: a newer one was taken away",
			x.q.To, e.statement.Predicate.Serial, highest))
	}
}

func (x *asking) revoked(e *entry) {
	t := x.evidence.Trust
	if reason, yes := takesBack(t.Revoked, e.digest, e.keys); yes {
		x.deny(because(IsRevoked, "the certificate of %s was revoked in the trust file: %s", x.q.To, shown(reason)))
		return
	}
	if t.Revocations == nil {
		return
	}
	err := x.evidence.RevocationsErr
	var list *RevocationList
	if err == nil {
		var seen int64
		if x.evidence.Seen != nil {
			seen = x.evidence.Seen.Revocations
		}
		list, err = readRevocations(x.evidence.Revocations, t.Revocations.Key, x.q.At, seen)
	}
	if err != nil {
		x.deny(because(NoRevocations, "the revocation list %s cannot be used: %v", shown(t.Revocations.File), err).
			mend("fetch the newest revocation list"))
		return
	}
	if reason, yes := takesBack(list.Revoked, e.digest, e.keys); yes {
		x.deny(because(IsRevoked, "the certificate of %s was revoked: %s", x.q.To, shown(reason)))
	}
}

func (x *asking) time(p Predicate) {
	now, skew := x.q.At, x.evidence.Trust.skew
	switch {
	case now.Add(skew).Before(p.NotBefore.Time):
		x.deny(because(NotYet, "certificate of %s begins %s (%s)", x.q.To, day(p.NotBefore), ago(p.NotBefore.Time, now)).
			mend("wait, or set the clock of this machine"))
	case !now.Add(-skew).Before(p.NotAfter.Time):
		x.deny(because(Expired, "certificate of %s expired %s (%s)", x.q.To, day(p.NotAfter), ago(p.NotAfter.Time, now)))
	}
}

func (x *asking) subjects(s *Statement) {
	p, profileKnown := x.evidence.Profiles[x.q.To]
	switch {
	case !profileKnown:
		x.deny(because(WrongProfile, "no profile %q is deployed", x.q.To).mend("deploy the profile"))
	case s.subject(SubjectProfile, x.q.To) != ProfileDigest(p):
		x.deny(because(WrongProfile, "the route of %s changed since it was certified (base URL, protocol, model or headers of the profile)", x.q.To))
	}
	switch {
	case !x.known:
		x.deny(because(WrongContract, "contract %s is not deployed", x.a.Contract).mend("deploy the contract"))
	case s.subject(SubjectContract, x.c.Name()) != x.c.Digest:
		x.deny(because(WrongContract, "the text of contract %s changed since %s was certified", x.c.Name(), x.q.To))
	case s.subject(SubjectFixtures, "") != x.c.Fixtures:
		x.deny(because(WrongFixtures, "the fixtures of contract %s changed since %s was certified", x.c.Name(), x.q.To))
	}
}

func (x *asking) mode(p Predicate) {
	if p.Mode == Live {
		return
	}
	if !slices.Contains(x.evidence.Trust.AcceptReplay, x.q.To) {
		x.deny(because(ReplayOnly, "the certificate of %s was made from recordings, which prove the adapter and not the vendor", x.q.To))
		return
	}
	x.note("made from recordings: accepted because the trust file names %s under accept_replay", x.q.To)
}

func (x *asking) scope(p Predicate) {
	need := func(ok bool, what string) {
		if !ok {
			x.deny(because(OutOfScope, "the request needs %s, which was not exercised when %s was certified", what, x.q.To))
		}
	}
	n := x.q.Needs
	need(n.Mode == "" || slices.Contains(p.Scope.Modes, string(n.Mode)), "output mode "+string(n.Mode))
	need(!n.Stream || p.Scope.Streaming, "streaming")
	need(n.Input <= p.Scope.MaxInput || n.Input == 0, fmt.Sprintf("a prompt of %d tokens", n.Input))
	need(n.Language == "" || slices.Contains(p.Scope.Languages, n.Language), "language "+shown(n.Language))
}

func (x *asking) partners(p Predicate) {
	from, to := x.evidence.Profiles[x.q.From], x.evidence.Profiles[x.q.To]
	if p.Primary != nil && (p.Primary.Profile != x.q.From || p.Primary.SHA256 != ProfileDigest(from)) {
		x.deny(because(OtherPrimary, "%s was compared with %s, not with %s as it is deployed", x.q.To, shown(p.Primary.Profile), x.q.From))
	}
	if !x.c.Independent {
		return
	}
	switch {
	case from.Upstream == "" || to.Upstream == "":
		x.deny(because(NotIndependent, "contract %s asks for an independent fallback, but a profile does not name its upstream", x.c.Name()).
			mend("state upstream in the profiles of %s and %s", x.q.From, x.q.To))
	case strings.EqualFold(from.Upstream, to.Upstream):
		x.deny(because(NotIndependent, "%s and %s are both served by %s, and contract %s asks for an independent fallback",
			x.q.From, x.q.To, shown(to.Upstream), x.c.Name()).mend("choose another fallback"))
	}
}

// inconclusiveCap is the share of inconclusive cases up to which a pass counts.
const inconclusiveCap = 0.02

func (x *asking) checks(p Predicate) {
	fail := func(id, format string, args ...any) {
		r := because(CheckFailed, "check "+id+" of %s "+format, append([]any{x.q.To}, args...)...)
		r.Check = id
		x.deny(r)
	}
	if p.Plan.Registered.After(p.Started.Time) {
		x.deny(because(CheckFailed, "the plan of %s was registered after its run began", x.q.To))
	}
	if p.Plan.Cases < max(1, x.c.Cases) || p.Plan.Repeats < max(1, x.c.Repeats) {
		x.deny(because(TooFew, "%s was certified with %d case(s) of %d repeat(s); contract %s demands %d of %d",
			x.q.To, p.Plan.Cases, p.Plan.Repeats, x.c.Name(), max(1, x.c.Cases), max(1, x.c.Repeats)))
	}
	listed := map[string]bool{}
	for _, k := range p.Checks {
		if listed[k.ID] {
			fail(k.ID, "is listed twice")
		}
		listed[k.ID] = true
		must := k.Severity == Must || slices.Contains(x.c.Must, k.ID)
		switch {
		case k.Retries != 0:
			fail(k.ID, "was repeated until it passed (%d times)", k.Retries)
		case k.Verdict == NotApplicable && k.N == 0 && !slices.Contains(x.c.Must, k.ID):
		case !must && k.Verdict != Pass:
			x.note("check %s of %s has verdict %s; it is a should check", shown(k.ID), x.q.To, shown(string(k.Verdict)))
		case k.Verdict == Inconclusive && !slices.Contains(x.c.Must, k.ID):
			x.note("check %s of %s was inconclusive; the contract does not demand it", shown(k.ID), x.q.To)
		case k.Verdict == Inconclusive:
			x.deny(because(Undecided, "check %s of %s was inconclusive", shown(k.ID), x.q.To))
		case must && k.Verdict != Pass:
			fail(k.ID, "has verdict %s", shown(string(k.Verdict)))
		case k.Verdict == Pass && k.N == 0:
			x.deny(because(TooFew, "check %s of %s rests on no sample", shown(k.ID), x.q.To))
		case k.Verdict == Pass && !k.follows():
			fail(k.ID, "has a verdict that does not follow from its numbers")
		}
	}
	for _, id := range x.c.Must {
		if !listed[id] {
			fail(id, "is missing")
		}
	}
}

// follows recomputes a pass from its numbers.
func (k Check) follows() bool {
	return k.N > 0 && k.Passes <= k.N && k.Inconclusive >= 0 && k.Passes+k.Inconclusive <= k.N &&
		float64(k.Inconclusive) <= inconclusiveCap*float64(k.N) && k.Lower95 >= k.Threshold
}
