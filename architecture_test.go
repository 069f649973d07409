package main_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path"
	"regexp"
	"sort"
	"strings"
	"testing"
)

const module = "github.com/interlock-harness/interlock"

// mayImport is the one table of who may import whom inside the project. A
// package that is not listed fails the test. A trailing /... stands for the
// package and all below it. Tests may import what they like.
var mayImport = map[string][]string{
	"":                                        {"cli"},
	"cli":                                     {"console", "service", "scenarios", "harness/...", "providers/..."},
	"console":                                 {"docs/problems", "scenarios", "harness/...", "providers/..."},
	"docs/problems":                           {},
	"harness/bench":                           {"harness/stage/pgserver", "harness/stage/process", "harness/stage/scratch"},
	"harness/browser":                         {}, // doctor asks it; else only tests do
	"harness/edge":                            {"harness/loopback"},
	"harness/fault":                           {"harness/edge", "harness/history"},
	"harness/interleave":                      {"harness/edge", "harness/history", "harness/invariant", "harness/stage", "harness/target", "providers/standin"},
	"harness/mutant":                          {},
	"harness/plan":                            {"harness/edge", "harness/fault", "harness/history", "harness/invariant", "harness/stage", "harness/target", "providers/standin"},
	"harness/report":                          {"harness/history", "harness/invariant", "harness/mutant"},
	"harness/report/recount":                  {},
	"harness/invariant":                       {"harness/history"},
	"harness/history":                         {},
	"harness/hostile":                         {},
	"harness/loopback":                        {},
	"harness/stage":                           {"harness/...", "providers", "providers/fixtures", "providers/standin"},
	"harness/stage/pgserver":                  {"harness/loopback", "harness/stage/process", "harness/stage/scratch"},
	"harness/stage/process":                   {},
	"harness/stage/scratch":                   {},
	"harness/target":                          {"harness/history", "providers/strictyaml"},
	"providers":                               {},
	"providers/anthropic":                     {"providers", "providers/envelope", "providers/strictjson"},
	"providers/archive":                       {},
	"providers/bedrock":                       {"providers", "providers/envelope", "providers/strictjson"},
	"providers/certificate":                   {"providers", "providers/contract", "providers/statistics", "providers/strictjson"},
	"providers/cohere":                        {"providers", "providers/envelope", "providers/strictjson"},
	"providers/contract":                      {"providers", "providers/strictjson", "providers/strictyaml", "providers/schema", "providers/rule"},
	"providers/envelope":                      {"providers", "providers/strictjson", "providers/sse"},
	"providers/call":                          {"providers", "providers/sse", "providers/wire"},
	"providers/exchange":                      {"providers", "providers/contract", "providers/judge", "providers/strictjson", "providers/wire"},
	"providers/judge":                         {"providers", "providers/contract", "providers/envelope", "providers/strictjson", "providers/wire"},
	"scenarios":                               {"harness/...", "providers/..."},
	"providers/certify":                       {"providers", "providers/archive", "providers/call", "providers/certificate", "providers/check", "providers/contract", "providers/judge", "providers/prompt/live", "providers/prompt/render", "providers/prompt/standin", "providers/recording", "providers/standin", "providers/statistics", "providers/strictjson", "providers/strictyaml", "providers/wire"},
	"providers/check":                         {"providers", "providers/judge", "providers/wire", "providers/contract", "providers/envelope", "providers/prompt/render", "providers/sse", "providers/strictjson", "providers/statistics"},
	"providers/fixtures":                      {},
	"providers/gemini":                        {"providers", "providers/envelope", "providers/strictjson"},
	"providers/lock":                          {"providers/strictjson"},
	"providers/mistral":                       {"providers", "providers/envelope", "providers/openai"},
	"providers/ollama":                        {"providers", "providers/envelope", "providers/strictjson"},
	"providers/openai":                        {"providers", "providers/envelope", "providers/strictjson"},
	"providers/llamacpp":                      {"providers", "providers/envelope", "providers/openai"},
	"providers/vllm":                          {"providers", "providers/envelope", "providers/openai"},
	"providers/profile":                       {"providers", "providers/strictyaml", "providers/wire"},
	"providers/prompt/fetch":                  {},
	"providers/recording":                     {"providers", "providers/strictjson"},
	"providers/rule":                          {"providers/strictjson"},
	"providers/schema":                        {"providers/strictjson"},
	"providers/sse":                           {},
	"providers/standin":                       {"providers", "providers/wire", "providers/contract"},
	"providers/statistics":                    {},
	"providers/strictjson":                    {},
	"providers/strictyaml":                    {},
	"providers/wire":                          {"providers", "providers/envelope", "providers/anthropic", "providers/bedrock", "providers/cohere", "providers/gemini", "providers/llamacpp", "providers/mistral", "providers/ollama", "providers/openai", "providers/vllm"},
	"service":                                 {"service/internal/...", "providers/..."},
	"providers/prompt/bpe":                    {"providers/prompt/onig"},
	"providers/prompt/live":                   {"providers/prompt/render"},
	"providers/prompt/onig":                   {},
	"providers/prompt/render":                 {"providers", "providers/prompt/bpe", "providers/prompt/jinja", "providers/strictyaml"},
	"providers/prompt/standin":                {"providers", "providers/prompt/bpe", "providers/prompt/render"},
	"service/internal/failover":               {"service/internal/job", "service/internal/mutant", "providers/certificate"},
	"service/internal/worker":                 {"service/internal/failover", "service/internal/job", "service/internal/mutant", "providers"},
	"service/internal/httpapi":                {"docs/problems", "service/internal/job", "service/internal/mutant", "providers/..."},
	"service/internal/interleave":             {"service/internal/job", "service/internal/mutant", "service/internal/postgres"},
	"service/internal/job":                    {},
	"service/internal/metrics":                {"service/internal/job"},
	"service/internal/mutant":                 {},
	"service/internal/tracing":                {"service/internal/httpapi", "service/internal/job", "providers", "providers/wire"},
	"service/internal/pgtest":                 {"harness/stage/pgserver"}, // only tests import it
	"service/internal/postgres":               {"service/internal/job", "service/internal/mutant"},
	"providers/prompt/jinja":                  {"providers/strictjson", "providers/prompt/jinja/internal/..."},
	"providers/prompt/jinja/internal/builtin": {"providers/prompt/jinja/internal/python"},
	"providers/prompt/jinja/internal/python":  {},
	"providers/prompt/jinja/internal/syntax":  {"providers/prompt/jinja/internal/python"},
}

func TestArchitectureImportsOnlyGoDown(t *testing.T) {
	for _, p := range listPackages(t) {
		name := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		allowed, ok := mayImport[name]
		if !ok {
			t.Errorf("package %q is not in the import table: add it with what it may import", name)
			continue
		}
		for _, imp := range p.Imports {
			if !strings.HasPrefix(imp, module) {
				continue
			}
			imp = strings.TrimPrefix(strings.TrimPrefix(imp, module), "/")
			if !matches(allowed, imp) {
				t.Errorf("package %q imports %q, which the table does not allow", name, imp)
			}
		}
	}
}

func TestArchitectureEveryPackageSaysWhatItIsFor(t *testing.T) {
	for _, p := range listPackages(t) {
		if len(p.Doc) < 40 {
			t.Errorf("package %s has no comment that says what it is for", p.ImportPath)
		}
	}
}

// TestArchitectureNamesTheSixFilesOfAJobsLife: an hour's reading, in order. They
// exist, and are short enough for that hour.
func TestArchitectureNamesTheSixFilesOfAJobsLife(t *testing.T) {
	text, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, life, found := strings.Cut(string(text), "The life of a job, in the order to read it: ")
	if !found {
		t.Fatal("ARCHITECTURE.md does not say in which order to read the life of a job")
	}
	life, _, _ = strings.Cut(life, "\n\n")
	lines, files, folder := 0, 0, ""
	for _, m := range regexp.MustCompile("`([^`]+\\.go)`").FindAllStringSubmatch(life, -1) {
		if strings.Contains(m[1], "/") {
			folder = path.Dir(m[1])
		}
		code, err := os.ReadFile(path.Join(folder, path.Base(m[1])))
		if err != nil {
			t.Error(err)
		}
		files++
		lines += strings.Count(string(code), "\n")
	}
	if files != 6 || lines >= 800 {
		t.Errorf("%d files with %d lines; an hour's reading is 6 files with fewer than 800", files, lines)
	}
}

func matches(allowed []string, imp string) bool {
	for _, a := range allowed {
		if a == imp {
			return true
		}
		if root, ok := strings.CutSuffix(a, "/..."); ok && (imp == root || strings.HasPrefix(imp, root+"/")) {
			return true
		}
	}
	return false
}

type listed struct {
	ImportPath string
	Doc        string
	Imports    []string
}

func listPackages(t *testing.T) []listed {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Doc,Imports", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var packages []listed
	for dec := json.NewDecoder(strings.NewReader(string(out))); dec.More(); {
		var p listed
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
	sort.Slice(packages, func(i, j int) bool { return packages[i].ImportPath < packages[j].ImportPath })
	if len(packages) == 0 {
		t.Fatal("go list found no package")
	}
	return packages
}
