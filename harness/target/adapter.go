package target

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/interlock-harness/interlock/harness/history"
)

// Adapter says how a target words the job contract: its paths, headers,
// fields and status names. What is left out stands for the contract's own
// word.
type Adapter struct {
	Name string `json:"name"`
	// Paths are "METHOD /path" by operation, with {id} for the job and {n} for
	// the number of the attempt. An operation that is "-" is not offered.
	Paths   map[string]string `json:"paths"`
	Headers Headers           `json:"headers"`
	// Submit is the body of a submit, with {{intent}} in the place of the intent, or
	// with {{input}} and the intent's other fields in places of their own.
	Submit string `json:"submit"`
	// Contracts and Providers are the target's names by the scenarios' own.
	Contracts map[string]string `json:"contracts"`
	Providers map[string]string `json:"providers"`
	// ProblemFields are JSON pointers into a refusal; Reasons are the contract's
	// problem types by the target's own, or by the status.
	ProblemFields map[string]string `json:"problem_fields"`
	Reasons       map[string]string `json:"reasons"`
	// Fields and AttemptFields are JSON pointers into a job or an attempt of the
	// target, by the contract's name.
	Fields        map[string]string `json:"fields"`
	AttemptFields map[string]string `json:"attempt_fields"`
	// Lists are JSON pointers to the array in an answer that lists something, by
	// operation.
	Lists map[string]string `json:"lists"`
	// Statuses and States are the contract's words by the target's own.
	Statuses map[string]string `json:"statuses"`
	States   map[string]string `json:"states"`
	// ConflictStatus answers the same key with other input: 409 or 422.
	ConflictStatus int `json:"conflict_status"`
	// Rows are queries by table (level L2): $1 is an array of owners, the columns
	// are those of the contract, named and in any order.
	Rows map[string]string `json:"rows"`
	// Commands are programs with arguments that start, stop and kill the target
	// (level L3).
	Commands map[string][]string `json:"commands"`
	// Ready is a path that answers 200 when a started target takes work; without it
	// any answer will do. CommandTimeoutMS bounds a command with its effect, 10 s
	// without it. LeaseMS is how long the work of a killed worker counts as under way.
	Ready            string `json:"ready"`
	CommandTimeoutMS int64  `json:"command_timeout_ms"`
	LeaseMS          int64  `json:"lease_ms"`
}

// ReadyPath is the path that is asked whether the target is ready.
func (a *Adapter) ReadyPath() string { return or(a.Ready, "/") }

// CommandTimeout bounds a command and its effect.
func (a *Adapter) CommandTimeout() time.Duration {
	if a.CommandTimeoutMS == 0 {
		return commandTimeout
	}
	return time.Duration(a.CommandTimeoutMS) * time.Millisecond
}

// Lease is how long after the death of its worker an attempt may still count as
// under way, beyond what the scenarios wait for anyway.
func (a *Adapter) Lease() time.Duration { return time.Duration(a.LeaseMS) * time.Millisecond }

// Headers are the names of a target's headers.
type Headers struct {
	Key           string `json:"key"`           // carries the idempotency key
	Replayed      string `json:"replayed"`      // says that an answer repeats an earlier one
	Authorization string `json:"authorization"` // carries the credential ...
	Scheme        string `json:"scheme"`        // ... after this word; none for the bare credential
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

// ErrNotOffered is returned for an operation that the target does not have.
var ErrNotOffered = errors.New("the target does not offer this operation")

// Offers says whether the target has an operation.
func (a *Adapter) Offers(op string) bool { return a.Paths[op] != "-" }

func (a *Adapter) path(op, job string, n int) path {
	if !a.Offers(op) {
		return path{}
	}
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

func (a *Adapter) keyHeader() string { return or(a.Headers.Key, "Idempotency-Key") }

func (a *Adapter) authorise(req *http.Request, key string) {
	if key == "" || req.Header.Get("Authorization") != "" {
		return
	}
	value := key
	if scheme := or(a.Headers.Scheme, "Bearer"); scheme != "none" {
		value = scheme + " " + key
	}
	req.Header.Set(or(a.Headers.Authorization, "Authorization"), value)
}

func (a *Adapter) replayed(h http.Header) bool {
	return strings.EqualFold(h.Get(or(a.Headers.Replayed, "Idempotency-Replayed")), "true")
}

// job turns a job of the target into one of the contract.
func (a *Adapter) job(body []byte) []byte {
	body = rename(body, a.Fields, a.Statuses, "status")
	return rename(body, nil, reversed(a.Providers), "provider")
}

// attempt turns an attempt of the target into one of the contract.
func (a *Adapter) attempt(body []byte) []byte {
	body = rename(body, a.AttemptFields, a.States, "state")
	return rename(body, nil, reversed(a.Providers), "provider")
}

// list turns an answer that lists something into {name: [...]}, each entry
// renamed.
func (a *Adapter) list(op, name string, body []byte, entry func([]byte) []byte) []byte {
	pointer := a.Lists[op]
	if pointer == "" && len(a.Fields)+len(a.AttemptFields)+len(a.Statuses)+len(a.States)+len(a.Providers) == 0 {
		return body
	}
	var doc any
	if json.Unmarshal(body, &doc) != nil {
		return body
	}
	found, ok := at(doc, or(pointer, "/"+name))
	entries, isList := found.([]any)
	if !ok || !isList {
		return body
	}
	list := make([]json.RawMessage, len(entries))
	for i, e := range entries {
		text, err := json.Marshal(e)
		if err != nil {
			return body
		}
		list[i] = entry(text)
	}
	text, err := json.Marshal(map[string]any{name: list})
	if err != nil {
		return body
	}
	return text
}

// rename puts the contract's names on top of an object of the target.
func rename(body []byte, fields, words map[string]string, word string) []byte {
	if len(fields) == 0 && len(words) == 0 {
		return body
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber() // a number of the target keeps its digits
	var doc map[string]any
	if decoder.Decode(&doc) != nil {
		return body
	}
	renamed := map[string]any{}
	for name, value := range doc {
		renamed[name] = value
	}
	for name, pointer := range fields {
		delete(renamed, name) // the target's own field of that name means something else
		if v, ok := at(doc, pointer); ok && v != nil {
			renamed[name] = v
		}
	}
	if own, ok := renamed[word].(string); ok {
		renamed[word] = or(words[own], own)
	}
	text, err := json.Marshal(renamed)
	if err != nil {
		return body
	}
	return text
}

// at follows a JSON pointer (RFC 6901).
func at(doc any, pointer string) (any, bool) {
	if pointer == "/" || pointer == "" {
		return doc, true
	}
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
