package certify

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/interlock-harness/interlock/providers/certificate"
)

// shownAnswer is one question to a server that shows or counts prompts, and what it
// answered: a line of prompt/answers.jsonl.
type shownAnswer struct {
	N       int    `json:"n"`
	Method  string `json:"method"`
	Path    string `json:"path"`
	Request []byte `json:"request,omitempty"` // base64: it need not be text
	Status  int    `json:"status,omitempty"`
	Answer  []byte `json:"answer,omitempty"`
	Problem string `json:"problem,omitempty"` // why there is no answer
}

func (a shownAnswer) key() string { return a.Method + " " + a.Path + "\x00" + string(a.Request) }

// digest is over the question and its answer.
func (a shownAnswer) digest() string {
	data, err := json.Marshal(a)
	if err != nil {
		panic("certify: " + err.Error()) // strings, numbers and bytes only
	}
	return certificate.Hash(data)
}

func answerDigests(list []shownAnswer) []string {
	var all []string
	for _, a := range list {
		all = append(all, a.digest())
	}
	return all
}

// maxShown is the longest answer that is kept, of a server that shows prompts.
const maxShown = 64 << 20

// keeping is a transport that keeps what was asked and answered. The API key is
// blotted out of the answers before anybody reads them.
type keeping struct {
	base   http.RoundTripper
	secret string

	mu   sync.Mutex
	kept []shownAnswer
}

// RoundTrip implements http.RoundTripper.
func (k *keeping) RoundTrip(r *http.Request) (*http.Response, error) {
	a, err := question(r)
	if err != nil {
		return nil, err
	}
	resp, err := k.base.RoundTrip(r)
	if err == nil {
		a.Status = resp.StatusCode
		a.Answer, err = io.ReadAll(io.LimitReader(resp.Body, maxShown))
		_ = resp.Body.Close()
	}
	if k.secret != "" {
		a.Answer = bytes.ReplaceAll(a.Answer, []byte(k.secret), []byte("[key]"))
	}
	if err != nil {
		a.Problem = err.Error()
	}
	k.mu.Lock()
	a.N = len(k.kept) + 1
	k.kept = append(k.kept, a)
	k.mu.Unlock()
	return a.response(r)
}

func question(r *http.Request) (shownAnswer, error) {
	a := shownAnswer{Method: r.Method, Path: r.URL.RequestURI()}
	if r.Body == nil {
		return a, nil
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return a, err
	}
	if len(body) > 0 {
		a.Request = body
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return a, nil
}

func (a shownAnswer) response(r *http.Request) (*http.Response, error) {
	if a.Problem != "" {
		return nil, errors.New(a.Problem)
	}
	return &http.Response{
		StatusCode: a.Status, Status: http.StatusText(a.Status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(a.Answer)), ContentLength: int64(len(a.Answer)), Request: r,
	}, nil
}

// playing is a transport that answers from what was kept: each question as often as
// it was asked, in that order.
type playing struct {
	mu     sync.Mutex
	left   map[string][]shownAnswer
	missed string // a question that was never asked
}

func newPlaying(kept []shownAnswer) *playing {
	p := &playing{left: map[string][]shownAnswer{}}
	for _, a := range kept {
		p.left[a.key()] = append(p.left[a.key()], a)
	}
	return p
}

// RoundTrip implements http.RoundTripper.
func (p *playing) RoundTrip(r *http.Request) (*http.Response, error) {
	a, err := question(r)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	found := p.left[a.key()]
	if len(found) == 0 {
		p.missed = a.Method + " " + a.Path
		return nil, fmt.Errorf("%s is not among the answers", p.missed)
	}
	if p.left[a.key()] = found[1:]; len(found) == 1 {
		delete(p.left, a.key())
	}
	return found[0].response(r)
}

// problem says what does not fit between questions and answers, or "".
func (p *playing) problem() string {
	switch {
	case p.missed != "":
		return "a question to the server that shows its prompts is not among the answers: " + p.missed
	case len(p.left) > 0:
		return fmt.Sprintf("%d answers of the server that shows its prompts belong to no question", len(p.left))
	}
	return ""
}

// shownAnswers reads the lines of prompt/answers.jsonl.
func shownAnswers(lines []byte) ([]shownAnswer, error) {
	var list []shownAnswer
	d := json.NewDecoder(bytes.NewReader(lines))
	d.DisallowUnknownFields()
	for d.More() {
		var a shownAnswer
		if err := d.Decode(&a); err != nil {
			return nil, fmt.Errorf("line %d: %w", len(list)+1, err)
		}
		if a.N != len(list)+1 {
			return nil, fmt.Errorf("line %d says that it is number %d", len(list)+1, a.N)
		}
		list = append(list, a)
	}
	return list, nil
}
