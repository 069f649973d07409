package envelope

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/strictjson"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// Builder puts a Response together from the pieces of a body or stream. The
// places that its methods take are JSON pointers into the body or into the data
// of the current event.
type Builder struct {
	response providers.Response
	event    int
	text     []byte
	calls    []call
	byWord   bool // the failure is known from the word for the end alone
}

type call struct {
	providers.ToolCall
	index int64
}

// place names where the reading stands.
func (b *Builder) place(pointer string) string {
	if b.event == 0 {
		return pointer
	}
	if pointer == "" {
		return "event " + strconv.Itoa(b.event)
	}
	return "event " + strconv.Itoa(b.event) + " " + pointer
}

// Model notes a model name; null, empty and absent names are none.
func (b *Builder) Model(v strictjson.Raw, at string) {
	if !v.IsString() || len(v) == 2 {
		return
	}
	r := &b.response
	if string(v[1:len(v)-1]) == r.Model { // the usual case in a stream, without allocation
		return
	}
	name := v.Text()
	if r.Model == "" {
		r.Model, r.At.Model = name, b.place(at)
	}
	if r.Model != name && len(r.Models) == 0 {
		r.Models = []string{r.Model}
	}
	if r.Model != name && !slices.Contains(r.Models, name) && len(r.Models) < 16 {
		r.Models = append(r.Models, name)
		r.At.Model = b.place(at)
	}
}

// Finish notes the provider's word for the end. In a stream a word may come more
// than once; one that is not normal is never taken back.
func (b *Builder) Finish(v strictjson.Raw, ends *Ends, at string) {
	word := v.Text()
	if !v.IsString() && v.Present() {
		word = string(v)
	}
	b.End(word, ends.Class(word), at)
}

// End notes an end that is already classed.
func (b *Builder) End(word string, class providers.FinishClass, at string) {
	r := &b.response
	ended := r.End != providers.FinishNone && r.End != providers.FinishOpen
	if class == providers.FinishNone || ended && (class == providers.FinishNormal || class == providers.FinishOpen) {
		return
	}
	r.Finish, r.End, r.At.Finish = word, class, b.place(at)
	if class == providers.FinishBroken {
		known := b.response.Failure != nil
		b.Fail(&providers.Failure{Type: word, Message: "the provider says that it broke off: " + word, Place: at})
		b.byWord = !known
	}
}

// Fail notes a stated failure; the first one stays, unless it was only the word
// for the end: an error object says more.
func (b *Builder) Fail(f *providers.Failure) {
	if b.response.Failure != nil && !b.byWord {
		return
	}
	b.byWord = false
	f.Place = b.place(f.Place)
	f.MidStream = b.response.Stream
	b.response.Failure = f
}

// Marker notes that the protocol's own end marker was seen.
func (b *Builder) Marker() { b.response.EndMarker = true }

// Malformed notes a break of the stream's protocol; the first one stays.
func (b *Builder) Malformed(why string) {
	if b.response.Malformed == "" {
		b.response.Malformed, b.response.At.Malformed = why, b.place("")
	}
}

// Unreadable notes that the body states neither a result nor a failure.
func (b *Builder) Unreadable(why string) { b.response.Unreadable = why }

// Refuse notes a refusal; an empty or absent text is none.
func (b *Builder) Refuse(v strictjson.Raw, at string) {
	if !v.Present() || v.IsString() && len(v) == 2 {
		return
	}
	if !b.response.Refusal {
		b.response.Refusal, b.response.At.Refusal = true, b.place(at)
	}
	if len(b.response.RefusalText) < 4096 {
		b.response.RefusalText += v.Text()
	}
}

// Text adds a piece of the answer's text.
func (b *Builder) Text(v strictjson.Raw, at string) {
	if !v.IsString() || len(v) == 2 {
		return
	}
	if len(b.text) == 0 {
		b.response.At.Output = b.place(at)
	}
	b.text = v.AppendText(b.text)
}

// Texts adds content that is a string or a list of parts, where parts of type
// text count and parts of type refusal refuse.
func (b *Builder) Texts(v strictjson.Raw, at string) {
	if v.IsString() {
		b.Text(v, at)
		return
	}
	for i, part := range v.Elements() {
		var kind, text, refusal strictjson.Raw
		for k, m := range part.Members() {
			switch string(k) {
			case "type":
				kind = m
			case "text":
				text = m
			case "refusal":
				refusal = m
			}
		}
		switch kind.Text() {
		case "text", "output_text":
			b.Text(text, at+"/"+strconv.Itoa(i)+"/text")
		case "refusal":
			b.Refuse(refusal, at+"/"+strconv.Itoa(i)+"/refusal")
		}
	}
}

// HasText and HasCalls tell whether anything was gathered so far.
func (b *Builder) HasText() bool  { return len(b.text) > 0 }
func (b *Builder) HasCalls() bool { return len(b.calls) > 0 }

// mostCalls bounds the calls of one answer: from two on they are too many, so
// further ones change nothing.
const mostCalls = 128

// AppendCall adds a whole call that needs no index.
func (b *Builder) AppendCall(c providers.ToolCall) {
	if len(b.calls) == mostCalls {
		return
	}
	c.Place = b.place(c.Place)
	b.calls = append(b.calls, call{c, -1 - int64(len(b.calls))})
}

// Call returns the call with the given index, begun at the first mention.
func (b *Builder) Call(index int64, encoding providers.ArgumentEncoding, at string) *providers.ToolCall {
	for i := range b.calls {
		if b.calls[i].index == index {
			return &b.calls[i].ToolCall
		}
	}
	if len(b.calls) == mostCalls {
		return &providers.ToolCall{}
	}
	b.calls = append(b.calls, call{providers.ToolCall{Encoding: encoding, Place: b.place(at)}, index})
	return &b.calls[len(b.calls)-1].ToolCall
}

// Name adds a piece of a call's id and name. Servers that repeat the whole name
// with each piece say nothing new.
func Name(c *providers.ToolCall, id, name strictjson.Raw) {
	if c.ID == "" {
		c.ID = id.Text()
	}
	if more := name.Text(); more != "" && more != c.Name {
		c.Name += more
	}
}

// Arguments adds to the arguments of a call a value that must be a string. Once a
// piece was none, nothing that follows makes them whole again.
func Arguments(c *providers.ToolCall, v strictjson.Raw) {
	if c.Encoding == providers.ArgumentsInvalid {
		return
	}
	if v.IsString() {
		c.Arguments, c.Encoding = append(c.Arguments, v.Text()...), providers.ArgumentsString
		return
	}
	c.Arguments, c.Encoding = v, providers.ArgumentsInvalid
}

// Object sets the arguments of a call from a value that must be an object.
func Object(c *providers.ToolCall, v strictjson.Raw) {
	c.Arguments, c.Encoding = v, providers.ArgumentsObject
	if !v.IsObject() {
		c.Encoding = providers.ArgumentsInvalid
	}
}

// Temperature notes the temperature that the answer echoes.
func (b *Builder) Temperature(v strictjson.Raw, at string) {
	if n := v.Number(); n != "" {
		number := json.Number(n)
		b.response.Temperature, b.response.At.Temperature = &number, b.place(at)
	}
}

// Usage notes token counts; what is not a whole number is not stated. Later
// statements of a stream replace earlier ones.
func (b *Builder) Usage(input, output, total strictjson.Raw, at string) {
	u := providers.Usage{}
	if b.response.Usage != nil {
		u = *b.response.Usage
	}
	set := func(to **int64, v strictjson.Raw) bool {
		n, ok := v.Int()
		if ok {
			*to = &n
		}
		return ok
	}
	i, o, n := set(&u.Input, input), set(&u.Output, output), set(&u.Total, total)
	if !i && !o && !n {
		return
	}
	if o {
		b.response.At.Usage = b.place(at)
	}
	b.response.Usage = &u
}

// Response returns what was read.
func (b *Builder) Response() providers.Response {
	b.response.Text = string(joinSurrogates(b.text))
	for i := range b.calls {
		b.calls[i].Arguments = joinSurrogates(b.calls[i].Arguments)
		b.response.Calls = append(b.response.Calls, b.calls[i].ToolCall)
	}
	return b.response
}

// joinSurrogates mends characters whose two halves were written as escapes in
// two pieces of a stream: joined, they are one character again. A half without
// its other half stays, as invalid UTF-8.
func joinSurrogates(text []byte) []byte {
	var mended []byte
	done := 0 // text before it is in mended
	for i := 0; ; {
		n := bytes.IndexByte(text[i:], 0xed)
		if n < 0 {
			break
		}
		i += n
		if i+6 <= len(text) && text[i+3] == 0xed {
			if full := utf16.DecodeRune(three(text[i:]), three(text[i+3:])); full != utf8.RuneError {
				mended = utf8.AppendRune(append(mended, text[done:i]...), full)
				done = i + 6
				i += 5
			}
		}
		i++
	}
	if done == 0 {
		return text
	}
	return append(mended, text[done:]...)
}

func three(b []byte) rune {
	return rune(b[0]&0x0f)<<12 | rune(b[1]&0x3f)<<6 | rune(b[2]&0x3f)
}

// Refused reports whether a refusal was noted.
func (b *Builder) Refused() bool { return b.response.Refusal }

// Lend tells part, a builder for one part of the text, where b stands.
func (b *Builder) Lend(part *Builder) { part.event = b.event }

// Join appends the text of part.
func (b *Builder) Join(part *Builder) {
	if len(b.text) == 0 && len(part.text) > 0 {
		b.response.At.Output = part.response.At.Output
	}
	b.text = append(b.text, part.text...)
}
