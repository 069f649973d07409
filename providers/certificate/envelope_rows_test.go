package certificate_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/providers/certificate"
)

// The rows of the table of bad certificates, in files by what is wrong. Each name
// begins with its row; the number is the detailed exit code.

func TestF01EverySingleBitFlipKeepsTheGateShut(t *testing.T) {
	w := newWorld(t)
	good := sign(t, w.statement, w.key)
	w.file(good)
	w.expect(0, "")
	for bit := range len(good) * 8 {
		bad := bytes.Clone(good)
		bad[bit/8] ^= 1 << (bit % 8)
		w.evidence.Files = []certificate.File{{Name: "a.dsse.json", Data: bad}}
		if a := certificate.NewGate(w.evidence).Ask(w.question); a.Allow || a.Detailed != 13 && a.Exit != 3 {
			t.Fatalf("bit %d (byte %q -> %q): %s %d %v", bit, good[bit/8], bad[bit/8], a.Answer, a.Detailed, a.Reasons)
		}
	}
}

func TestF02WhatIsNoEnvelopeIsUnreadable(t *testing.T) {
	for _, text := range []string{"", "{}", "null", "[]", "<html><body>no</body></html>", strings.Repeat(" ", 257<<10), `"x"`, "{", "\xff\xfe"} {
		w := newWorld(t)
		w.file([]byte(text))
		w.expect(3, "a.dsse.json")
	}
	w := newWorld(t)
	w.file(append(sign(t, w.statement, w.key), bytes.Repeat([]byte(" "), 257<<10)...))
	w.expect(3, "more than")
}

func envelope(payloadType string, payload []byte, sigs ...[2]string) []byte {
	list := []map[string]string{}
	for _, s := range sigs {
		m := map[string]string{"sig": s[1]}
		if s[0] != "" {
			m["keyid"] = s[0]
		}
		list = append(list, m)
	}
	data, _ := json.Marshal(map[string]any{"payloadType": payloadType, "payload": base64.StdEncoding.EncodeToString(payload), "signatures": list})
	return data
}

// parts takes a good certificate to pieces.
func (w *world) parts() (payload []byte, keyid, sig string) {
	var e struct {
		Payload    []byte
		Signatures []struct{ Keyid, Sig string }
	}
	if err := json.Unmarshal(sign(w.t, w.statement, w.key), &e); err != nil {
		w.t.Fatal(err)
	}
	return e.Payload, e.Signatures[0].Keyid, e.Signatures[0].Sig
}

func TestF11ToF15Forms(t *testing.T) {
	rewrite := func(t *testing.T, change func(w *world, good string, payload []byte) string) *world {
		w := newWorld(t)
		good := sign(t, w.statement, w.key)
		payload, _, _ := w.parts()
		w.file([]byte(change(w, string(good), payload)))
		return w
	}
	std, url := base64.StdEncoding, base64.URLEncoding
	t.Run("F11 URL-safe base64", func(t *testing.T) {
		w := newWorld(t)
		w.statement.Predicate.Served = []string{"\u00ff\u00fe???>>>~~~\u0bf9"} // gives both + and / in one of the lengths
		for range 3 {
			w.evidence.Files = nil
			payload, keyid, sig := w.parts()
			raw, _ := std.DecodeString(sig)
			data := strings.ReplaceAll(string(envelope(certificate.PayloadType, payload, [2]string{keyid, url.EncodeToString(raw)})),
				std.EncodeToString(payload), url.EncodeToString(payload))
			w.file([]byte(data))
			w.expect(0, "")
			w.statement.Predicate.Issuer += "x"
		}
	})
	t.Run("F12 line breaks", func(t *testing.T) {
		for _, at := range []int{1, 76, 0} {
			rewrite(t, func(_ *world, good string, payload []byte) string {
				text := std.EncodeToString(payload)
				return strings.ReplaceAll(good, text, text[:at]+`\n`+text[at:])
			}).expect(13, "line breaks")
		}
	})
	t.Run("F12 bits behind the end", func(t *testing.T) {
		w := newWorld(t)
		for len(mustPayload(w))%3 == 0 { // needs padding
			w.statement.Predicate.Issuer += "x"
		}
		payload, keyid, sig := w.parts()
		text := std.EncodeToString(payload)
		cut := strings.TrimRight(text, "=")
		last := cut[len(cut)-1]
		const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
		loose := cut[:len(cut)-1] + string(alphabet[strings.IndexByte(alphabet, last)|1]) + text[len(cut):]
		w.file([]byte(strings.ReplaceAll(string(envelope(certificate.PayloadType, payload, [2]string{keyid, sig})), text, loose)))
		w.expect(13, "base64")
	})
	for name, change := range map[string][2]string{
		"F13 PAYLOAD beside payload":     {`"payload":`, `"PAYLOAD":"e30=","payload":`},
		"F13 PAYLOAD after payload":      {`"signatures":`, `"PAYLOAD":"e30=","signatures":`},
		"F13 payloadtype":                {`"payloadType":`, `"payloadtype":`},
		"F13 Signatures":                 {`"signatures":`, `"Signatures":`},
		"F13 duplicate payload":          {`"payload":`, `"payload":"e30=","payload":`},
		"F13 escaped duplicate":          {`"payload":`, `"p\u0061yload":"e30=","payload":`},
		"F13 unknown field":              {`"payload":`, `"x":1,"payload":`},
		"F13 SIG beside sig":             {`"sig":`, `"SIG":"","sig":`},
		"F13 signatures is an object":    {`"signatures": [`, `"signatures": {"a":[`},
		"F15 an array around everything": {`{`, `[{`},
	} {
		t.Run(name, func(t *testing.T) {
			w := rewrite(t, func(_ *world, good string, _ []byte) string {
				if !strings.Contains(good, change[0]) {
					t.Fatalf("no %s in %s", change[0], good)
				}
				return strings.Replace(good, change[0], change[1], 1)
			})
			if a := w.ask(); a.Allow || a.Detailed != 13 && a.Exit != 3 {
				t.Errorf("%+v", a)
			}
			if strings.HasPrefix(name, "F13") && !strings.Contains(name, "object") {
				w.expect(13, "")
			}
		})
	}
	t.Run("F14 duplicate inside the signed statement", func(t *testing.T) {
		for _, old := range []string{`"serial":7`, `"verdict":"pass"`, `"name":"fixtures"`} {
			w := newWorld(t)
			payload, _, _ := w.parts()
			name, _, _ := strings.Cut(old, ":")
			data, _ := certificate.SignPayload(certificate.PayloadType, bytes.Replace(payload, []byte(old), []byte(name+":0,"+old), 1), w.key)
			w.file(data)
			w.expect(13, "")
		}
	})
	t.Run("F14 another case inside the signed statement", func(t *testing.T) {
		w := newWorld(t)
		payload, _, _ := w.parts()
		data, _ := certificate.SignPayload(certificate.PayloadType, bytes.Replace(payload, []byte(`"serial":7`), []byte(`"serial":7,"SERIAL":8`), 1), w.key)
		w.file(data)
		w.expect(13, "SERIAL")
	})
	for name, tail := range map[string]string{"object": "{}", "array": "[]", "text": "x", "nul": "\x00", "the same": "SAME"} {
		t.Run("F15 second document "+name, func(t *testing.T) {
			rewrite(t, func(_ *world, good string, _ []byte) string {
				return good + strings.ReplaceAll(tail, "SAME", good)
			}).expect(13, "")
		})
	}
}

func mustPayload(w *world) []byte { p, _, _ := w.parts(); return p }
