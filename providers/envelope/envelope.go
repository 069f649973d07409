// Package envelope holds what the wire protocols have in common: telling a
// stream from a body, reading a JSON body or the events of a stream, finding a
// stated failure, classing a word for the end, and putting a Response together
// from its pieces.
//
// It knows no protocol. Fields that a protocol does not name are passed over;
// what is taken out keeps its bytes.
package envelope

import (
	"bytes"
	"mime"
	"strings"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/strictjson"
)

// Streamed reports whether the answer is to be read as a stream of events: its
// content type says so, or a stream was asked for and what came is not plainly
// one JSON document.
func Streamed(t providers.Transcript) bool {
	kind := ContentType(t)
	if kind == "text/event-stream" {
		return true
	}
	if !t.Request.Stream {
		return false
	}
	first := bytes.TrimLeft(t.Body, " \t\r\n")
	return len(first) == 0 || first[0] != '{' && first[0] != '['
}

// ContentType is the media type of the answer in lower case, without parameters.
func ContentType(t providers.Transcript) string {
	kind, _, err := mime.ParseMediaType(t.Header.Get("Content-Type"))
	if err != nil {
		kind, _, _ = strings.Cut(t.Header.Get("Content-Type"), ";")
	}
	return strings.ToLower(strings.TrimSpace(kind))
}

// Body reads a JSON body: an object (or, where a protocol sends lists, an
// array). Any other body is unreadable, and the second result says why.
func Body(t providers.Transcript, lists bool) (strictjson.Raw, string) {
	root, err := strictjson.Read(t.Body, strictjson.Lenient)
	switch {
	case err != nil:
		return nil, strings.TrimPrefix(err.Error(), "json: ")
	case root.IsObject(), lists && root.IsArray():
		return root, ""
	case root.Kind() == 'n':
		return nil, "the body is null"
	}
	return nil, "the body is no JSON object"
}

// results are the fields under which the protocols give what they produced.
func holdsResult(name []byte, v strictjson.Raw) bool {
	switch string(name) {
	case "choices", "output", "content", "candidates":
		return v.IsArray() || v.IsObject()
	case "message":
		return v.IsObject()
	}
	return false
}

// Stated returns the failure that a JSON document states, or nil.
//
// An error member that is neither null, false nor empty is a stated failure
// whatever stands beside it. A document that is itself the error (type or object
// "error", a __type) counts too, and so does, where bare is set and there is no
// result, one that gives nothing but a message, detail or list of errors: that
// is for whole bodies, not for an event in passing. A list is searched for the
// first document that states one.
func Stated(root strictjson.Raw, bare bool) *providers.Failure {
	if root.IsArray() {
		for _, e := range root.Elements() {
			if f := Stated(e, bare); e.IsObject() && f != nil {
				return f
			}
		}
		return nil
	}
	var own, text, kind strictjson.Raw
	result, itself := false, false
	for k, v := range root.Members() {
		switch string(k) {
		case "error":
			own = v
		case "type", "object":
			itself = itself || string(v) == `"error"`
		case "__type", "__Type":
			kind = v
			itself = itself || v.IsString()
		case "message", "Message", "detail", "msg", "errors":
			if v.IsString() && len(v) > 2 || v.IsArray() && v.At(0) != nil && string(k) != "message" {
				text = v
			}
		}
		result = result || holdsResult(k, v)
	}
	if states(own) {
		f := Error(own, "/error")
		if !own.IsObject() { // a bare text: the code may stand beside it
			beside := Error(root, "/error")
			beside.Message = f.Message
			return beside
		}
		return f
	}
	if itself || bare && text != nil && !result {
		f := Error(root, "")
		if f.Type == "" || f.Type == "error" {
			f.Type = kind.Text()
		}
		return f
	}
	return nil
}

func states(v strictjson.Raw) bool {
	switch v.Kind() {
	case 0, 'n', 'f':
		return false
	case '"':
		return len(v) > 2
	case '{':
		for range v.Members() {
			return true
		}
		return false
	case '[':
		return v.At(0) != nil
	}
	return true
}

// Error reads the usual members of an error object.
func Error(v strictjson.Raw, place string) *providers.Failure {
	f := &providers.Failure{Place: place}
	if v.IsString() {
		f.Message = v.Text()
		return f
	}
	if v.IsArray() {
		v = v.At(0)
	}
	for k, m := range v.Members() {
		switch string(k) {
		case "code", "status", "status_code", "statusCode", "http_status", "http_code":
			code := m.Text()
			if n, ok := m.Int(); ok {
				code = itoa(n)
			}
			if f.Code == "" || !f.Timeout() && (&providers.Failure{Code: code}).Timeout() {
				f.Code = code
			}
		case "type":
			f.Type = m.Text()
		case "message", "Message", "msg", "detail":
			if f.Message == "" {
				f.Message = m.Text()
			}
		}
	}
	return f
}
