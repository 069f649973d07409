package check

import (
	"strconv"
	"unicode"

	"github.com/interlock-harness/interlock/providers/wire"
)

// x02 rejects texts that try to leave the place where they are shown: control
// characters, terminal sequences and direction overrides in what a provider says
// about itself or in its output. Reports escape them anyway.
var x02 = Check{
	ID: "X02", Title: "no text tries to leave the place where it is shown",
	Kind: Deterministic, Severity: Must, Probes: []Probe{Base, Other, BadRequest, WrongModel},
	judge: func(r *Run, t *tally) {
		for _, o := range r.of(Base, Other, BadRequest, WrongModel) {
			texts := []string{o.Response.Model, o.Response.Finish, o.Response.Text, o.Response.RefusalText}
			if f := wire.Failure(o.Transcript); f != nil {
				texts = append(texts, f.Message, f.Type, f.Code)
			}
			if c, found := escaping(texts); found {
				t.fail(o, "text.control", "", "a text holds the character "+strconv.QuoteRuneToASCII(c))
				continue
			}
			t.pass(o)
		}
	},
}

func escaping(texts []string) (rune, bool) {
	for _, text := range texts {
		for _, c := range text {
			switch {
			case c == '\n' || c == '\t' || c == '\r':
			case unicode.IsControl(c), c >= 0x202a && c <= 0x202e, c >= 0x2066 && c <= 0x2069:
				return c, true
			}
		}
	}
	return 0, false
}
