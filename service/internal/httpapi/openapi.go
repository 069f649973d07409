package httpapi

import (
	_ "embed"
	"encoding/json"
	"strconv"
	"strings"
)

// doc is what the OpenAPI document says of a route, beyond its path.
type doc struct {
	id, summary string
	headers     []string // request headers
	query       []string
	body        string // schema of the request body
	optional    bool   // of the body
	stream      bool   // 200 may be an event stream
	text        string // media type of 200 where it is not JSON
	answers     []answerDoc
	problems    []*problemKind
}

type answerDoc struct {
	status      int
	schema      string
	description string
}

//go:embed schemas.json
var schemas []byte

type node = map[string]any

// OpenAPI writes the OpenAPI 3.1 document of all routes.
func OpenAPI() []byte {
	var components node
	if err := json.Unmarshal(schemas, &components); err != nil {
		panic("schemas.json: " + err.Error()) // embedded: a mistake of the programmer
	}
	responses := node{}
	for _, k := range problemKinds {
		responses[k.suffix] = problemResponse(k)
	}
	components["responses"] = responses
	paths := node{}
	for _, r := range routes() {
		path, ok := paths[r.path].(node)
		if !ok {
			path = node{}
			paths[r.path] = path
		}
		path[strings.ToLower(r.method)] = operation(r)
	}
	text, err := json.MarshalIndent(node{
		"openapi": "3.1.0",
		"info": node{
			"title": "Interlock job service", "version": "1",
			"description": "One job per intent, at most one attempt in flight, exactly one winner.",
			"license":     node{"name": "Apache-2.0", "identifier": "Apache-2.0"},
		},
		"paths":      paths,
		"components": components,
	}, "", "  ")
	if err != nil {
		panic("openapi: " + err.Error())
	}
	return append(text, '\n')
}

func operation(r route) node {
	op := node{"operationId": r.doc.id, "summary": r.doc.summary}
	params := []any{}
	for segment := range strings.SplitSeq(r.path, "/") {
		if name, ok := strings.CutPrefix(segment, "{"); ok {
			params = append(params, reference("parameters", "path-"+strings.TrimSuffix(name, "}")))
		}
	}
	for _, name := range r.doc.query {
		params = append(params, reference("parameters", "query-"+name))
	}
	for _, name := range r.doc.headers {
		params = append(params, reference("parameters", name))
	}
	if len(params) > 0 {
		op["parameters"] = params
	}
	if r.doc.body != "" {
		op["requestBody"] = node{"required": !r.doc.optional, "content": content("application/json", r.doc.body)}
	}
	op["responses"] = responsesOf(r)
	if r.access == everybody {
		op["security"] = []any{}
	} else {
		op["security"] = []any{node{"key": []any{}}}
		op["x-role"] = map[access]string{owners: "owner", operators: "operator"}[r.access]
	}
	return op
}

// responsesOf lists the answers of a route. Problems of one status share one
// entry, so several kinds stand in x-problems.
func responsesOf(r route) node {
	out := node{}
	for _, a := range r.doc.answers {
		one := node{"description": a.description, "headers": answerHeaders(r, a)}
		switch {
		case r.doc.text != "":
			one["content"] = node{r.doc.text: node{"schema": node{"type": "string"}}}
		case a.schema != "":
			one["content"] = content("application/json", a.schema)
			if r.doc.stream {
				one["content"].(node)["text/event-stream"] = node{"schema": node{"type": "string"}}
			}
		}
		out[strconv.Itoa(a.status)] = one
	}
	byStatus := map[string][]*problemKind{}
	for _, k := range problemsOf(r) {
		status := strconv.Itoa(k.status)
		byStatus[status] = append(byStatus[status], k)
	}
	for status, kinds := range byStatus {
		if len(kinds) == 1 {
			out[status] = reference("responses", kinds[0].suffix)
			continue
		}
		types, titles := []any{}, []string{}
		for _, k := range kinds {
			types = append(types, "/problems/"+k.suffix)
			titles = append(titles, k.title)
		}
		out[status] = node{"description": strings.Join(titles, "; or: "), "x-problems": types,
			"content": content("application/problem+json", "Problem")}
	}
	return out
}

// problemsOf are the problems of a route, with those that every route has.
func problemsOf(r route) []*problemKind {
	kinds := append([]*problemKind{}, r.doc.problems...)
	kinds = append(kinds, requestMalformed, badConnection, methodNotAllowed, targetTooLong, expectationFailed,
		headersTooLarge, internalError, codingUnsupported, versionUnsupported)
	if r.access != everybody {
		kinds = append(kinds, unauthorized, queryInvalid, storeUnavailable)
	}
	if r.access == operators && !contains(r.doc.problems, roleRequired) {
		kinds = append(kinds, roleRequired)
	}
	return kinds
}

func contains(kinds []*problemKind, k *problemKind) bool {
	for _, have := range kinds {
		if have == k {
			return true
		}
	}
	return false
}

func problemResponse(k *problemKind) node {
	return node{
		"description": k.title, "x-problems": []any{"/problems/" + k.suffix},
		"content": content("application/problem+json", "Problem"),
	}
}

func answerHeaders(r route, a answerDoc) node {
	names := []string{"X-Request-Id", "Traceparent"}
	switch a.schema {
	case "Job":
		names = append(names, "X-Job-Id", "ETag")
	case "Attempt":
		names = append(names, "X-Job-Id", "X-Attempt-Id")
	}
	if contains(r.doc.problems, keyMissing) {
		names = append(names, "Idempotency-Key", "Idempotency-Replayed", "Location")
	}
	headers := node{}
	for _, name := range names {
		headers[name] = reference("headers", name)
	}
	return headers
}

func content(mediaType, schema string) node {
	return node{mediaType: node{"schema": reference("schemas", schema)}}
}

func reference(kind, name string) node {
	return node{"$ref": "#/components/" + kind + "/" + name}
}
