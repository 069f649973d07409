package cli_test

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/interlock-harness/interlock/cli"
)

const (
	colour = "\x1b[3"       // the beginning of each of our colours
	plain  = "TERM=xterm"   // a terminal that can do it
	dumb   = "TERM=dumb"    // one that cannot
	noTone = "NO_COLOR=yes" // no-color.org: whatever the value
)

// moving is a state of the moving line of certify.
var moving = regexp.MustCompile(`\d+/\d+ requests`)

// TestColourIsForATerminalThatWantsIt shows a result on every kind of standard
// output.
func TestColourIsForATerminalThatWantsIt(t *testing.T) {
	f := exitFixtures(t)
	f.judged(t)
	for name, c := range map[string]struct {
		screens []string
		env     string
		flags   string
		colour  bool
	}{
		"a terminal":                                 {screens: []string{"out", "err"}, colour: true},
		"a terminal, standard error not":             {screens: []string{"out"}, colour: true},
		"a pipe, standard error a terminal":          {screens: []string{"err"}},
		"a pipe":                                     {},
		"a terminal, NO_COLOR":                       {screens: []string{"out", "err"}, env: noTone},
		"a terminal, NO_COLOR empty, which is unset": {screens: []string{"out"}, env: "NO_COLOR=", colour: true},
		"a dumb terminal":                            {screens: []string{"out", "err"}, env: dumb},
		"a terminal, --no-color":                     {screens: []string{"out", "err"}, flags: "--no-color"},
		"a terminal, INTERLOCK_NO_COLOR":             {screens: []string{"out"}, env: "INTERLOCK_NO_COLOR=true"},
		"a terminal, --color never":                  {screens: []string{"out", "err"}, flags: "--color never"},
		"a terminal, --color auto":                   {screens: []string{"out"}, flags: "--color auto", colour: true},
		"a terminal, both ways to say never":         {screens: []string{"out"}, flags: "--color never --no-color"},
		"a pipe, --color always":                     {flags: "--color always", colour: true},
		"a pipe, --color always against NO_COLOR":    {flags: "--color always", env: noTone, colour: true},
		"a dumb terminal, --color always":            {screens: []string{"out"}, flags: "--color always", env: dumb, colour: true},
		"a terminal, --json":                         {screens: []string{"out", "err"}, flags: "--json"},
		"a terminal, --json --color always":          {screens: []string{"out", "err"}, flags: "--json --color always"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := startProgram(t, append(slices.Clone(f.env), plain, "NO_COLOR=", c.env), f.words(exitRow{command: "report", args: "$F/good " + c.flags}), c.screens...)
			if code := p.wait(t); code != cli.ExitOK {
				t.Fatalf("exit %d: %s", code, p.said.String())
			}
			out := p.out.String()
			if strings.Contains(out, colour) != c.colour || !c.colour && strings.Contains(out, "\x1b") {
				t.Errorf("colour on standard output is not %v: %q", c.colour, out)
			}
			if !strings.Contains(out, "double-click") || strings.Contains(p.said.String(), "\x1b") {
				t.Errorf("it shows %q and says %q", out, p.said.String())
			}
		})
	}
	if code, _, said := run(t, "version", "--no-color", "--color", "always"); code != cli.ExitUsage || !strings.Contains(said, "contradict") {
		t.Errorf("both at once: exit %d: %s", code, said)
	}
}

// TestTheMovingLineMovesOnATerminalOnly runs what takes a while with every kind of
// standard error.
func TestTheMovingLineMovesOnATerminalOnly(t *testing.T) {
	f := exitFixtures(t)
	for name, c := range map[string]struct {
		screens []string
		env     string
		flags   string
		line    bool
	}{
		"a terminal":                              {screens: []string{"err"}, line: true},
		"a terminal, NO_COLOR":                    {screens: []string{"err"}, env: noTone, line: true},
		"a terminal, --no-color":                  {screens: []string{"err"}, flags: "--no-color", line: true},
		"a terminal, and on standard output, too": {screens: []string{"err", "out"}, line: true},
		"a dumb terminal":                         {screens: []string{"err"}, env: dumb},
		"a terminal, --quiet":                     {screens: []string{"err"}, flags: "--quiet"},
		"a terminal, --json":                      {screens: []string{"err"}, flags: "--json"},
		"a pipe, standard output a terminal":      {screens: []string{"out"}},
		"a pipe":                                  {},
		"a pipe, --color always":                  {flags: "--color always"},
	} {
		t.Run(name, func(t *testing.T) {
			p := startProgram(t, append(slices.Clone(f.env), plain, "NO_COLOR=", c.env), f.words(exitRow{
				command: "certify", args: "anthropic-demo --contract invoice --no-job-service --max-calls 40 --certs $OUT/certs --out $OUT " + c.flags}), c.screens...)
			if code := p.wait(t); code != cli.ExitInconclusive {
				t.Fatalf("exit %d: %s%s", code, p.out.String(), p.said.String())
			}
			said := p.said.String()
			if moving.MatchString(said) != c.line || strings.Contains(said, erase) != c.line {
				t.Errorf("the moving line is not %v: %q", c.line, said)
			}
			if strings.Contains(p.out.String(), erase) || strings.Contains(p.out.String(), "\x1b[2K") || !c.line && strings.Contains(said, "\x1b") {
				t.Errorf("movement where none belongs: %q %q", p.out.String(), said)
			}
			if c.line {
				if wrong := uncleared(said); wrong != "" {
					t.Error(wrong)
				}
			}
		})
	}
}

func TestAMovingLineThatStaysIsFound(t *testing.T) {
	for said, good := range map[string]bool{
		erase + "1/2 requests" + erase + "2/2 requests" + erase:                true,
		erase + "1/2 requests" + erase + "done\r\n":                            true,
		erase + "1/2 requests":                                                 false,
		erase + "1/2 requests" + erase + "2/2 requests":                        false,
		erase + strings.Repeat("x", 80) + erase:                                false,
		"done\r\n" + erase + strings.Repeat("é", 79) + erase + "interlock\r\n": true,
		"done\r\n": false,
	} {
		if wrong := uncleared(said); (wrong == "") != good {
			t.Errorf("%q: %q", said, wrong)
		}
	}
}

// TestVerifyOnATerminal is the first minute of a newcomer: one line that moves, then
// a result in colour, within 80 columns.
func TestVerifyOnATerminal(t *testing.T) {
	f := exitFixtures(t)
	p := startProgram(t, append(slices.Clone(f.env), plain, "NO_COLOR="), f.words(exitRow{command: "verify", args: "double-click lost-response-retry --seed 7 --out $OUT"}), "out", "err")
	if code := p.wait(t); code != cli.ExitOK {
		t.Fatalf("exit %d: %s%s", code, p.out.String(), p.said.String())
	}
	if said := p.said.String(); !regexp.MustCompile(`\d+/2 [a-z-]+ \.\.\. 0 not as they must be`).MatchString(said) {
		t.Errorf("no moving line: %q", said)
	}
	if wrong := uncleared(p.said.String()); wrong != "" {
		t.Error(wrong)
	}
	if !strings.Contains(p.out.String(), colour) {
		t.Errorf("no colour: %q", p.out.String())
	}
	narrow(t, p.out.String())
	p.leftBehind(t)
	for _, args := range []string{"--json", "--json --quiet"} { // the talk goes to the other stream
		p := startProgram(t, append(slices.Clone(f.env), plain, "NO_COLOR="), f.words(exitRow{command: "verify", args: "double-click --seed 7 --out $OUT " + args}), "err")
		if code := p.wait(t); code != cli.ExitOK {
			t.Fatalf("exit %d: %s%s", code, p.out.String(), p.said.String())
		}
		onlyJSON(t, p.out.String())
		quiet := strings.Contains(args, "quiet")
		if said := p.said.String(); strings.Contains(p.out.String(), "\x1b") || strings.Contains(said, erase) || strings.Contains(said, colour) == quiet {
			t.Errorf("%s: it prints %.200q and says %q", args, p.out.String(), said)
		}
	}
}

// narrow fails where a line that is not a path or a command is wider than 80 columns.
func narrow(t *testing.T, out string) {
	t.Helper()
	for _, line := range strings.Split(regexp.MustCompile("\x1b\\[[0-9;]*m|\r").ReplaceAllString(out, ""), "\n") {
		if n := utf8.RuneCountInString(line); n > 80 && !regexp.MustCompile(`^(Report|Next): `).MatchString(line) {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

// TestOnlyAPersonAtATerminalIsAsked runs record, which asks before it sends anything.
func TestOnlyAPersonAtATerminalIsAsked(t *testing.T) {
	server := vendor(t, "")
	base := append(withoutSettings(), plain, "VENDOR_KEY="+vendorKey)
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Fields("record vendor --contract triage --max-calls 2 --profiles " + filepath.Join(here, "profiles"))
	const question = "Go on? [y/N]"
	for name, c := range map[string]struct {
		screens []string
		env     string
		flags   []string
		answer  string // empty: nobody is asked
		code    int
		calls   int
	}{
		"no":                          {screens: []string{"in", "err"}, answer: "n\n", code: cli.ExitUsage},
		"nothing":                     {screens: []string{"in", "err"}, answer: "\n", code: cli.ExitUsage},
		"end of input":                {screens: []string{"in", "err"}, answer: "\x04", code: cli.ExitUsage},
		"yes":                         {screens: []string{"in", "err", "out"}, answer: "y\n", code: cli.ExitOK, calls: 2},
		"yes, results into a pipe":    {screens: []string{"in", "err"}, answer: "yes\n", code: cli.ExitOK, calls: 2},
		"--yes":                       {screens: []string{"in", "err"}, flags: []string{"--yes"}, code: cli.ExitOK, calls: 2},
		"--no-input":                  {screens: []string{"in", "err"}, flags: []string{"--no-input"}, code: cli.ExitUsage},
		"INTERLOCK_NO_INPUT":          {screens: []string{"in", "err"}, env: "INTERLOCK_NO_INPUT=true", code: cli.ExitUsage},
		"nobody can answer":           {screens: []string{"err", "out"}, code: cli.ExitUsage},
		"nobody can see the question": {screens: []string{"in", "out"}, code: cli.ExitUsage},
		"no terminal":                 {code: cli.ExitUsage},
		"a dumb terminal":             {screens: []string{"in", "err"}, env: dumb, answer: "n\n", code: cli.ExitUsage},
	} {
		t.Run(name, func(t *testing.T) {
			before := len(server.Ledger())
			p := startProgram(t, append(slices.Clone(base), c.env), append(append(slices.Clone(words), c.flags...), "--out", filepath.Join(t.TempDir(), "recordings")), c.screens...)
			if c.answer != "" {
				p.await(t, "asking", p.said.has(question))
				if _, err := p.in.Write([]byte(c.answer)); err != nil {
					t.Fatal(err)
				}
			}
			if code := p.wait(t); code != c.code {
				t.Errorf("exit %d, want %d: %s%s", code, c.code, p.out.String(), p.said.String())
			}
			if asked := strings.Contains(p.said.String()+p.out.String(), question); asked != (c.answer != "") {
				t.Errorf("asked is %v: %s", asked, p.said.String())
			}
			if calls := len(server.Ledger()) - before; calls != c.calls {
				t.Errorf("%d requests were sent, want %d", calls, c.calls)
			}
		})
	}
}
