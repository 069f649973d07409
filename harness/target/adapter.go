package target

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/interlock-harness/interlock/harness/history"
)

// Adapter says how a target words the job contract: its paths, headers,
// fields and status names. The zero value of a field stands for the
// contract's own word.
type Adapter struct {
	// Paths are "METHOD /path" by operation, with {id} for the job, {n} for the
	// number of the attempt and {attempt} for its id. An operation that maps to
	// "-" is not offered.
	Paths map[string]string
	// KeyHeader carries the idempotency key.
	KeyHeader string
	// ReplayedHeader says that an answer repeats an earlier one.
	ReplayedHeader string
	// AuthHeader and AuthScheme carry the credential.
	AuthHeader, AuthScheme string
	// ConflictStatus answers the same key with other input: 409 or 422.
	ConflictStatus int
	// Fields are JSON pointers into an answer, by the contract's field name.
	Fields map[string]string
	// Statuses are the contract's words for the target's status names.
	Statuses map[string]string
}

// OpFailover is not part of the history's core operations.
const (
	OpFailover = "failover"
	OpRaw      = "raw"
)

// Contract is the adapter of a target that uses the contract's own words.
func Contract() *Adapter { return &Adapter{} }

var contractPaths = map[string]string{
	history.OpSubmit:        "POST /v1/jobs",
	history.OpGet:           "GET /v1/jobs/{id}",
	history.OpList:          "GET /v1/jobs",
	history.OpStart:         "POST /v1/jobs/{id}/attempts",
	history.OpCancel:        "POST /v1/jobs/{id}/cancel",
	history.OpAttempts:      "GET /v1/jobs/{id}/attempts",
	history.OpEvents:        "GET /v1/jobs/{id}/events",
	history.OpRaces:         "GET /v1/races",
	history.OpCancelAttempt: "POST /v1/jobs/{id}/attempts/{n}/cancel",
	history.OpRelease:       "POST /v1/jobs/{id}/attempts/{n}/release",
	history.OpResolve:       "POST /v1/jobs/{id}/attempts/{n}/resolve",
	OpFailover:              "GET /v1/failover",
}

// path is a method and a path with its places filled in.
type path struct{ method, text string }

func (a *Adapter) path(op, job string, n int) path {
	spec := a.Paths[op]
	if spec == "" {
		spec = contractPaths[op]
	}
	method, text, _ := strings.Cut(spec, " ")
	text = strings.NewReplacer("{id}", url.PathEscape(job), "{n}", strconv.Itoa(n)).Replace(text)
	return path{method, text}
}

func or(word, otherwise string) string {
	if word == "" {
		return otherwise
	}
	return word
}

func (a *Adapter) keyHeader() string { return or(a.KeyHeader, "Idempotency-Key") }

func (a *Adapter) authorise(req *http.Request, key string) {
	if key == "" || req.Header.Get("Authorization") != "" {
		return
	}
	value := key
	if scheme := or(a.AuthScheme, "Bearer"); scheme != "-" {
		value = scheme + " " + key
	}
	req.Header.Set(or(a.AuthHeader, "Authorization"), value)
}

func (a *Adapter) replayed(h http.Header) bool {
	return strings.EqualFold(h.Get(or(a.ReplayedHeader, "Idempotency-Replayed")), "true")
}

// outcome is how a status is recorded; see history.Outcome.
func (a *Adapter) outcome(status int) history.Kind { return history.Outcome(status) }

// problem reads the body of a refusal, as far as it is one.
func (a *Adapter) problem(answer Answer) history.Problem {
	var p history.Problem
	if object(answer.Body, &p) != nil {
		text := string(answer.Body)
		if len(text) > 200 {
			text = text[:200]
		}
		return history.Problem{Detail: strings.ToValidUTF8(text, "\ufffd")}
	}
	return p
}

// conflict is the status for the same key with other input.
func (a *Adapter) conflict() int {
	if a.ConflictStatus == 0 {
		return http.StatusConflict
	}
	return a.ConflictStatus
}

// fields renames what the target calls otherwise: the answer with the
// contract's names at its top.
func (a *Adapter) fields(body []byte) []byte {
	if len(a.Fields) == 0 && len(a.Statuses) == 0 {
		return body
	}
	var doc map[string]any
	if json.Unmarshal(body, &doc) != nil {
		return body
	}
	for name, pointer := range a.Fields {
		if v, ok := at(doc, pointer); ok {
			doc[name] = v
		}
	}
	for _, name := range []string{"status", "state"} {
		if word, ok := doc[name].(string); ok {
			if ours, ok := a.Statuses[word]; ok {
				doc[name] = ours
			}
		}
	}
	text, err := json.Marshal(doc)
	if err != nil {
		return body
	}
	return text
}

// at follows a JSON pointer (RFC 6901).
func at(doc any, pointer string) (any, bool) {
	for _, part := range strings.Split(strings.TrimPrefix(pointer, "/"), "/") {
		part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		switch v := doc.(type) {
		case map[string]any:
			next, ok := v[part]
			if !ok {
				return nil, false
			}
			doc = next
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(v) {
				return nil, false
			}
			doc = v[i]
		default:
			return nil, false
		}
	}
	return doc, true
}
