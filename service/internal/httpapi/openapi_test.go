package httpapi_test

import (
	"encoding/json"
	"flag"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/docs/problems"
	"github.com/interlock-harness/interlock/service/internal/httpapi"
)

var update = flag.Bool("update", false, "write testdata/openapi.json anew")

func TestOpenAPIIsTheGoldenOne(t *testing.T) {
	const golden = "testdata/openapi.json"
	if *update {
		if err := os.WriteFile(golden, httpapi.OpenAPI(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != string(httpapi.OpenAPI()) {
		t.Error("the document changed: look at the difference, then run this test with -update")
	}
}

func TestOpenAPIIsServed(t *testing.T) {
	f := shared(t)
	a := f.call(t, request("GET", "/openapi.json", "", ""))
	if a.status != 200 || a.header.Get("Content-Type") != "application/json" || string(a.body) != string(httpapi.OpenAPI()) {
		t.Errorf("%d %v", a.status, a.header)
	}
}

func TestOpenAPIHoldsEveryRouteAndProblem(t *testing.T) {
	var doc struct {
		OpenAPI string
		Paths   map[string]map[string]struct {
			OperationID string `json:"operationId"`
			Parameters  []struct {
				Ref string `json:"$ref"`
			}
			Responses map[string]json.RawMessage
		}
	}
	decode(t, httpapi.OpenAPI(), &doc)
	if doc.OpenAPI != "3.1.0" {
		t.Errorf("version %q", doc.OpenAPI)
	}
	var ids []string
	for _, name := range httpapi.RouteNames() {
		method, path, _ := strings.Cut(name, " ")
		op, ok := doc.Paths[path][strings.ToLower(method)]
		if !ok {
			t.Errorf("%s is not in the document", name)
			continue
		}
		if op.OperationID == "" || slices.Contains(ids, op.OperationID) {
			t.Errorf("%s has no operationId of its own", name)
		}
		ids = append(ids, op.OperationID)
		for _, param := range regexp.MustCompile(`\{(\w+)\}`).FindAllStringSubmatch(path, -1) {
			found := false
			for _, p := range op.Parameters {
				found = found || strings.HasSuffix(p.Ref, "/path-"+param[1])
			}
			if !found {
				t.Errorf("%s does not declare {%s}", name, param[1])
			}
		}
	}
	for _, suffix := range httpapi.ProblemTypes() {
		if !strings.Contains(string(httpapi.OpenAPI()), `"/problems/`+suffix+`"`) {
			t.Errorf("problem %s is in no answer of the document", suffix)
		}
	}
}

func TestOpenAPIReferencesResolve(t *testing.T) {
	var doc map[string]any
	decode(t, httpapi.OpenAPI(), &doc)
	used := map[string]bool{}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if ref, ok := v["$ref"].(string); ok {
				used[ref] = true
				at := any(doc)
				for part := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
					at = at.(map[string]any)[part]
				}
				if at == nil {
					t.Errorf("%s leads nowhere", ref)
				}
			}
			for _, e := range v {
				walk(e)
			}
		case []any:
			for _, e := range v {
				walk(e)
			}
		}
	}
	walk(doc)
	for kind, all := range doc["components"].(map[string]any) {
		for name := range all.(map[string]any) {
			if ref := "#/components/" + kind + "/" + name; !used[ref] && kind != "securitySchemes" && kind != "responses" {
				t.Errorf("%s is used nowhere", ref)
			}
			if kind == "schemas" {
				schema(t, name) // compiles
			}
		}
	}
}

func TestEveryProblemHasAPageAndEveryPageAProblem(t *testing.T) {
	f := shared(t)
	types := httpapi.ProblemTypes()
	for _, suffix := range types {
		a := f.call(t, request("GET", "/problems/"+suffix, "", ""))
		if a.status != 200 || !strings.HasPrefix(string(a.body), "# "+suffix+"\n") || !strings.Contains(string(a.body), "What to do") {
			t.Errorf("%s: %d %s", suffix, a.status, a.body)
		}
	}
	pages, err := fs.Glob(problems.FS, "*.md")
	if err != nil || len(pages) != len(types) {
		t.Errorf("%d pages for %d types, %v", len(pages), len(types), err)
	}
	if a := f.call(t, request("GET", "/problems/nothing", "", "")); a.status != 404 {
		t.Errorf("%d", a.status)
	}
}
