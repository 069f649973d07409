// Package exchange reads recorded exchanges: one request and the one answer that
// came back, as a JSON file that a person can write.
//
// A body that is an object is sent as compact JSON, spelling of numbers and
// repeated names included; a string is sent as it is. A stream is a list of lines,
// joined by LF, with an LF after the last one. The package only reads; what an
// exchange is worth is said by judge.
package exchange

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/contract"
	"github.com/interlock-harness/interlock/providers/judge"
	"github.com/interlock-harness/interlock/providers/strictjson"
	"github.com/interlock-harness/interlock/providers/wire"
)

// MaxBytes bounds one file.
const MaxBytes = 32 << 20

// Exchange is one recorded exchange.
type Exchange struct {
	ID         string
	Title      string
	Tags       []string
	Contract   string // the contract that it names, id or id@version
	Case       string // a case of that contract, where it names one
	Input      any    // instead of a case; nil where absent
	Reference  any
	Transcript providers.Transcript
	Expect     *Expect // nil where the file says nothing
}

// Expect is the verdict that an exchange is known to deserve.
type Expect struct {
	Verdict providers.Verdict
	Reason  string
	Why     string
}

// Met reports whether j is what was expected: the verdict, and the family of the
// reason. What follows the dot is a hint.
func (e *Expect) Met(j providers.Judgement) bool {
	return j.Verdict == e.Verdict && Family(j.Reason) == Family(e.Reason)
}

// Family is the part of a reason before the dot.
func Family(reason string) string {
	family, _, _ := strings.Cut(reason, ".")
	return family
}

// Judge judges the exchange under c. What the exchange itself says about input and
// reference comes first, then the case that it names, then the only case of the
// contract.
func (x *Exchange) Judge(c *contract.Contract) providers.Judgement {
	return judge.Judge(c, x.asked(c), x.Transcript)
}

func (x *Exchange) asked(c *contract.Contract) *contract.Case {
	if x.Input != nil || x.Reference != nil {
		return &contract.Case{ID: x.ID, Input: x.Input, Reference: x.Reference}
	}
	if x.Case != "" {
		return c.Case(x.Case)
	}
	return c.Case(contract.ReferenceCase)
}

// Error is what is wrong with a file, in one sentence.
type Error struct {
	File string
	Text string
}

func (e *Error) Error() string { return e.File + ": " + e.Text }

// Parse reads one exchange. Members that it does not know are notes.
func Parse(file string, data []byte) (*Exchange, error) {
	fail := func(format string, args ...any) (*Exchange, error) {
		return nil, &Error{file, fmt.Sprintf(format, args...)}
	}
	if len(data) > MaxBytes {
		return fail("has more than %d bytes", MaxBytes)
	}
	root, err := strictjson.Read(data, strictjson.Lenient)
	if err != nil {
		return fail("%s", strings.TrimPrefix(err.Error(), "json: "))
	}
	if !root.IsObject() {
		return fail("an exchange is a JSON object")
	}
	p := parser{root: root}
	x := &Exchange{
		ID: p.text(root, "id"), Title: p.text(root, "title"), Contract: p.text(root, "contract"), Case: p.text(root, "case"),
		Tags: p.texts(root, "tags"), Input: p.value("input"), Reference: p.value("reference"), Expect: p.expect(),
	}
	x.Transcript = p.transcript()
	if p.failed != "" {
		return fail("%s", p.failed)
	}
	return x, nil
}

// parser keeps the first thing that is wrong.
type parser struct {
	root   strictjson.Raw
	failed string
}

func (p *parser) fail(format string, args ...any) {
	if p.failed == "" {
		p.failed = fmt.Sprintf(format, args...)
	}
}

func (p *parser) text(object strictjson.Raw, name string) string {
	v := object.Get(name)
	if v.Present() && !v.IsString() {
		p.fail("%s must be a text", name)
	}
	return v.Text()
}

func (p *parser) texts(object strictjson.Raw, name string) []string {
	v := object.Get(name)
	if v.Present() && !v.IsArray() {
		p.fail("%s must be a list of texts", name)
	}
	var out []string
	for i, e := range v.Elements() {
		if !e.IsString() {
			p.fail("%s[%d] must be a text", name, i)
		}
		out = append(out, e.Text())
	}
	return out
}

func (p *parser) truth(object strictjson.Raw, name string) bool {
	v := object.Get(name)
	if v.Present() && string(v) != "true" && string(v) != "false" {
		p.fail("%s must be true or false", name)
	}
	return string(v) == "true"
}

func (p *parser) whole(object strictjson.Raw, name string) *int64 {
	v := object.Get(name)
	if !v.Present() {
		return nil
	}
	n, ok := v.Int()
	if !ok {
		p.fail("%s must be a whole number", name)
	}
	return &n
}

func (p *parser) value(name string) any {
	v := p.root.Get(name)
	if !v.Present() {
		return nil
	}
	out, err := strictjson.Decode(v, strictjson.Limits{MaxBytes: -1, MaxKeys: -1, AllowNUL: true})
	if err != nil {
		p.fail("%s: %s", name, strings.TrimPrefix(err.Error(), "json: "))
	}
	return out
}

func (p *parser) expect() *Expect {
	v := p.root.Get("expect")
	if !v.Present() {
		return nil
	}
	e := &Expect{Verdict: providers.Verdict(p.text(v, "verdict")), Reason: p.text(v, "reason"), Why: p.text(v, "why")}
	known := []providers.Verdict{providers.Accept, providers.Reject, providers.DefiniteFailure, providers.Unknown}
	if !slices.Contains(known, e.Verdict) {
		p.fail("expect: verdict %q: there are accept, reject, definite_failure and unknown", cut(string(e.Verdict)))
	}
	return e
}

func (p *parser) transcript() providers.Transcript {
	t := providers.Transcript{Protocol: providers.Protocol(p.text(p.root, "protocol")), Reach: providers.ReachSent, Header: http.Header{}}
	if _, err := wire.For(t.Protocol); err != nil {
		p.fail("protocol %q: there are %s", cut(string(t.Protocol)), protocols())
	}
	t.Request = p.request()
	status := p.whole(p.root, "http_status")
	if status == nil {
		p.fail("http_status is missing")
	} else {
		t.Status = int(*status)
	}
	headers := p.root.Get("headers")
	if headers.Present() && !headers.IsObject() {
		p.fail("headers must be an object of texts")
	}
	for name, v := range headers.Members() {
		if !v.IsString() && !v.IsArray() {
			p.fail("headers must be an object of texts")
		}
		for _, e := range v.Elements() {
			t.Header.Add(string(name), e.Text())
		}
		if v.IsString() {
			t.Header.Add(string(name), v.Text())
		}
	}
	t.Body = p.body()
	if t.End = providers.End(p.text(p.root, "stream_end")); t.End == "" {
		t.End = providers.EndEOF
	}
	if !slices.Contains([]providers.End{providers.EndEOF, providers.EndReset, providers.EndUnterminated, providers.EndStall}, t.End) {
		p.fail("stream_end %q: there are eof, reset, unterminated and stall", cut(string(t.End)))
	}
	t.Chunks = []providers.Chunk{{Length: len(t.Body)}}
	return t
}

func (p *parser) request() providers.Request {
	v := p.root.Get("request")
	if !v.IsObject() {
		p.fail("request is missing or no object")
	}
	r := providers.Request{
		Model: p.text(v, "model"), Mode: providers.Mode(p.text(v, "mode")), Stream: p.truth(v, "stream"), ToolName: p.text(v, "tool_name"),
		MaxOutputTokens: p.whole(v, "max_output_tokens"), Seed: p.whole(v, "seed"),
	}
	if r.Mode == "" {
		r.Mode = providers.ModeJSONSchema
	}
	if r.Mode != providers.ModeJSONSchema && r.Mode != providers.ModeTool {
		p.fail("request: mode %q: there are json_schema and tool", cut(string(r.Mode)))
	}
	if stop := v.Get("stop"); stop.IsString() {
		r.Stop = []string{stop.Text()}
	} else {
		r.Stop = p.texts(v, "stop")
	}
	if t := v.Get("temperature"); t.Present() {
		if t.Number() == "" {
			p.fail("request: temperature must be a number")
		}
		n := json.Number(t.Number())
		r.Temperature = &n
	}
	return r
}

func (p *parser) body() []byte {
	body, stream := p.root.Get("body"), p.root.Get("stream")
	switch {
	case body != nil && stream != nil:
		p.fail("there is a body and a stream; an answer is one of them")
	case stream != nil:
		if !stream.IsArray() {
			p.fail("stream must be a list of lines")
		}
		var out []byte
		for i, line := range stream.Elements() {
			if !line.IsString() {
				p.fail("stream[%d] must be a text", i)
			}
			out = append(line.AppendText(out), '\n')
		}
		return out
	case body == nil:
		p.fail("there is neither a body nor a stream")
	case body.IsString():
		return body.AppendText(nil)
	}
	var out bytes.Buffer
	if err := json.Compact(&out, body); err != nil {
		p.fail("body: %v", err)
	}
	return out.Bytes()
}

func protocols() string {
	var names []string
	for _, p := range wire.Protocols() {
		names = append(names, string(p))
	}
	return strings.Join(names, ", ")
}

func cut(s string) string {
	if len(s) > 64 {
		s = strings.ToValidUTF8(s[:64], "") + "..."
	}
	return s
}
