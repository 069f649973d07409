package standin

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/interlock-harness/interlock/providers"
)

const maxRequest = 4 << 20 // bytes of a request that are read

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet && r.URL.Path == "/livez" { // asked by who starts us, no call
		w.WriteHeader(http.StatusOK)
		return
	}
	if s.answerQuestion(w, r) {
		return
	}
	at := time.Now()
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil { // a request that never arrived whole is no call
		return
	}
	ask, refused := s.dialect.read(r, data)
	if refused != nil && refused.unknown != nil && s.options.Fault != nil && s.options.Fault.AnyField {
		ask, refused = s.dialect.read(r, without(data, refused.unknown))
	}
	ask.key = strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ") + r.Header.Get("X-Api-Key") + r.Header.Get("X-Goog-Api-Key")
	ask.Protocol = s.options.Protocol
	ask.Job, ask.Attempt, ask.Play = r.Header.Get(HeaderJob), r.Header.Get(HeaderAttempt), r.Header.Get(HeaderPlay)
	call := &Call{
		ID: "standin-" + randomID(), Ask: ask, At: at, Method: r.Method, Path: r.URL.Path,
		Header: r.Header.Clone(), Body: data,
	}
	s.ledger.arrive(call)
	ask = call.Ask

	gates, script := s.rules.of(ask)
	fault := s.options.Fault.on(ask)
	p := &player{w: w, closing: s.closing, gone: r.Context().Done(), gates: gates}
	defer func() { s.ledger.end(call, p.status, p.sent, p.complete, p.left) }()
	if script == nil && fault != nil && fault.Script != nil {
		script = fault.Script(ask)
	}
	if script == nil {
		script = &Answer{}
		if p := Situation(ask.Play); p == PlayStall || p == PlayCancel {
			script = &Answer{Cut: &Point{Bytes: 64}, CutBy: CutStall}
		}
	}
	reply, output := s.compose(call.ID, ask, refused, *script, fault)
	if ask.Background && reply.Status == http.StatusOK {
		s.works.keep(&work{id: call.ID, ask: ask, gates: gates, script: *script, fault: fault})
		if k, ok := s.dialect.(keeper); ok && !ask.Stream { // the gates hold the work, not the answer that it is begun
			reply, output = k.standing(call.ID, ask, "queued"), ""
			p.gates = nil
		}
	}
	p.last = func(whole bool) { s.ledger.answering(call, p.status, output, whole) }
	p.play(reply, *script)
}

// compose makes the reply to one call: who the provider is, what it was asked,
// what the script says and how the server as a whole misbehaves, in this order.
// output is what the model said.
func (s *Server) compose(id string, a Ask, refused *Failure, script Answer, fault *Fault) (reply Reply, output string) {
	if refused == nil && s.options.Model != "" && a.Model != s.options.Model && (fault == nil || !fault.AnyModel) {
		refused = &Failure{Status: http.StatusNotFound, Code: "model_not_found", Message: fmt.Sprintf("the model %.100q does not exist", a.Model)}
	}
	if script.Status != 0 {
		refused = &Failure{Status: script.Status, Code: script.Code, Message: script.ErrorText, RetryAfter: script.RetryAfter}
	} else if refused == nil {
		refused = situation(a)
	}
	if refused != nil {
		if refused.Message == "" {
			refused.Message = "the stand-in was told to fail"
		}
		reply = fault.failure(a, *refused, s.dialect)
	} else {
		m := s.message(id, a, script, fault)
		if output = m.Text; output == "" && len(m.Calls) > 0 {
			output = m.Calls[0].Arguments
		}
		reply = fault.reply(a, m, s.dialect)
		if n := breakAfter(a, script); n > 0 && reply.Stream {
			reply = fault.broken(a, reply, n, s.dialect)
		}
	}
	name := requestIDHeader[a.Protocol]
	if name == "" {
		name = "X-Request-Id"
	}
	if fault == nil || !fault.NoRequestID {
		reply.Header.Set(name, id)
	}
	return s.options.Manner.comment(finishReply(reply, script)), output
}

// requestIDHeader is where a vendor states the id of a request, where it isn't
// X-Request-Id.
var requestIDHeader = map[providers.Protocol]string{
	providers.AnthropicMessages: "Request-Id",
	providers.BedrockConverse:   "X-Amzn-Requestid",
}

func finishReply(reply Reply, script Answer) Reply {
	if script.NoTerminator {
		reply = reply.without(func(p Piece) bool { return p.Finish || p.Marker })
	}
	if script.Body != nil {
		reply.Pieces = []Piece{{Raw: script.Body}}
	}
	for name, value := range script.Header {
		reply.Header.Set(name, value)
	}
	if script.Reply != nil {
		script.Reply(&reply)
	}
	return reply
}

// without leaves parameters out of a request.
func without(data []byte, names []string) []byte {
	n, ok := parseNode(string(data))
	if !ok {
		return data
	}
	n.members = slices.DeleteFunc(n.members, func(m member) bool { return slices.Contains(names, m.name) })
	return []byte(n.String())
}

// situation is what the certifier asked to be played, as far as it is an error
// response.
func situation(a Ask) *Failure {
	switch Situation(a.Play) {
	case PlayRateLimit:
		return &Failure{Status: http.StatusTooManyRequests, Message: "too many requests", RetryAfter: "2"}
	case PlayOverload:
		status := http.StatusServiceUnavailable
		if a.Protocol == providers.AnthropicMessages {
			status = 529
		}
		return &Failure{Status: status, Message: "overloaded", RetryAfter: "2"}
	}
	return nil
}

func breakAfter(a Ask, script Answer) int {
	if script.BreakAfter == 0 && Situation(a.Play) == PlayMidStream {
		return 2
	}
	return script.BreakAfter
}

// without leaves out pieces of a reply.
func (r Reply) without(drop func(Piece) bool) Reply {
	var kept []Piece
	for _, p := range r.Pieces {
		if !drop(p) {
			kept = append(kept, p)
		}
	}
	r.Pieces = kept
	return r
}

// breakOff ends a stream after n parts of the answer with piece.
func (r Reply) breakOff(n int, piece Piece) Reply {
	var kept []Piece
	for _, p := range r.Pieces {
		if p.Finish || p.Marker || n == 0 {
			break
		}
		if p.Delta {
			n--
		}
		kept = append(kept, p)
	}
	r.Pieces = append(kept, piece)
	return r
}
