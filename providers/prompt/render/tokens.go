package render

import (
	"fmt"
	"slices"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/prompt/bpe"
)

// probes of R16: texts that normalizers change.
var roundTripProbes = []string{
	"e\u0301 \u212B \u1E9B\u0323", "ＡＢＣ ʰʷʲ 𝕄𝕒𝕥𝕙 ﬁ ½", "▁▁under _under_", "שָׁלוֹם العربية 한국어 ไทย", "👩‍🚀🏳️‍🌈 \U0001F1E9\U0001F1EA", `\u0000 \\ "quoted"`,
	"a\tb\r\nc\n\n  d   e", "tail and  head",
}

// roundTrip is R16.
func roundTrip(e *examination) {
	texts := slices.Clone(roundTripProbes)
	for _, r := range e.Requests {
		texts = append(texts, r.System, r.User)
	}
	for _, text := range texts {
		ids, err := e.Tokenizer.Encode(text, bpe.Options{Added: bpe.NoAdded})
		if err != nil {
			e.fail("the text %.60q has no tokens: %v", text, err)
			continue
		}
		back, err := e.Tokenizer.Decode(ids, false)
		if err != nil {
			e.fail("the tokens of %.60q have no text: %v", text, err)
		} else if back != text {
			e.deviates("rewrites", "%.60q comes back as %.60q", text, back)
			return // one example is enough
		}
	}
}

// budget is R17, with the route's own tokenizer: a prompt that fits the primary
// may be five times as long for its fallback.
func budget(e *examination) {
	if !e.known() {
		return
	}
	window, whose := e.Profile.ContextWindow, "the window"
	if server, ok := e.Route.(Windowed); ok {
		if n, err := server.Window(); err == nil && n > 0 && (n < window || window == 0) {
			window, whose = n, "the server's window"
		}
	}
	if window == 0 {
		e.skip("the profile names no context window")
		return
	}
	if len(e.Requests) == 0 {
		e.skip("there are no requests")
		return
	}
	for i, r := range e.Requests {
		ids, err := e.Tokenize(FromRequest(r))
		if err != nil {
			e.skip("request %d: %v", i, err)
			continue
		}
		answer := 0
		if r.MaxOutputTokens != nil {
			answer = int(*r.MaxOutputTokens)
		}
		if need := len(ids) + answer; need > window {
			e.fail("request %d needs %d tokens (%d of the prompt), %s has %d", i, need, len(ids), whose, window)
		}
	}
}

// usageAgrees is R18. What a provider counts beyond the prompt is its own
// wrapping, at most K.
func usageAgrees(e *examination) {
	if !e.known() {
		return
	}
	if len(e.Usage) == 0 {
		e.skip("nothing was counted by the provider")
		return
	}
	for i, r := range e.Requests {
		counted, ok := e.Usage[i]
		if !ok {
			continue
		}
		differ, err := e.Agrees(r, counted)
		switch {
		case err != nil:
			e.skip("request %d: %v", i, err)
		case differ != "":
			e.fail("request %d: %s", i, differ)
		}
	}
}

// Agrees says how counted, what the provider stated for the prompt of r, differs
// from what is counted here; "" where it is at most K more. The error is that of a
// prompt which cannot be counted.
func (s *Subject) Agrees(r providers.Request, counted int) (string, error) {
	ids, err := s.Tokenize(FromRequest(r))
	if err != nil || counted >= len(ids) && counted <= len(ids)+s.Profile.K {
		return "", err
	}
	return fmt.Sprintf("the prompt has %d tokens, the provider counted %d and may count up to %d more", len(ids), counted, s.Profile.K), nil
}

// identity is R19: a package may ship another model's vocabulary under the name.
func identity(e *examination) {
	if want := e.Profile.Tokenizer.SHA256; want != e.Tokenizer.Digest() {
		e.fail("the file has the digest %s, the profile names %q", e.Tokenizer.Digest(), want)
	}
	server, live := e.Route.(Encoding)
	for _, known := range e.Profile.Tokenizer.Known {
		ids, err := e.Tokenizer.Encode(known.Text, bpe.Options{})
		if err != nil || !slices.Equal(ids, known.IDs) {
			e.fail("%.60q has the ids %v, the profile knows %v", known.Text, ids, known.IDs)
		}
		if !live {
			continue
		}
		if ids, err := server.Encode(known.Text); err != nil || !slices.Equal(ids, known.IDs) {
			e.fail("for the server %.60q has the ids %v (%v), the profile knows %v", known.Text, ids, err, known.IDs)
		}
	}
}
