package jinja_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/providers/prompt/fetch"
	"github.com/interlock-harness/interlock/providers/prompt/jinja"
)

// oracleVariable names a Python with Debian's python3-jinja2. With it, new
// templates and conversations are tried on both engines.
const oracleVariable = "INTERLOCK_JINJA_ORACLE"

// answer is what an engine says about one request.
type answer struct {
	OK      *string `json:"ok,omitempty"`
	Err     string  `json:"err,omitempty"`
	Message string  `json:"message,omitempty"`
	Line    int     `json:"line,omitempty"`
}

func (a answer) String() string {
	if a.OK != nil {
		return strconv.Quote(*a.OK)
	}
	return a.Err + ": " + a.Message
}

type request struct {
	Template string          `json:"template"`
	Vars     json.RawMessage `json:"vars,omitempty"`
	Now      string          `json:"now,omitempty"`
}

// oracle is a Python process that renders.
type oracle struct {
	in  io.WriteCloser
	out *bufio.Reader
}

func startOracle(t *testing.T) *oracle {
	t.Helper()
	python := os.Getenv(oracleVariable)
	if python == "" {
		t.Skipf("no oracle: set %s to a Python with jinja2 3.1.2, such as /usr/bin/python3 with python3-jinja2", oracleVariable)
	}
	cmd := exec.Command(python, "-W", "ignore", "../testdata/oracle/jinja_oracle.py", "serve")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	return &oracle{in, bufio.NewReaderSize(out, 1<<20)}
}

func (o *oracle) ask(t *testing.T, r request) answer {
	t.Helper()
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.in.Write(append(data, '\n')); err != nil {
		t.Fatal(err)
	}
	line, err := o.out.ReadBytes('\n')
	if err != nil {
		t.Fatalf("the oracle ended at %s: %v", data, err)
	}
	var a answer
	if err := json.Unmarshal(line, &a); err != nil {
		t.Fatal(err)
	}
	return a
}

// ours is our answer to the same request.
func ours(t *testing.T, r request) answer {
	t.Helper()
	vars := jinja.NewDict()
	if len(r.Vars) > 0 {
		vars = variables(t, r.Vars)
	}
	tmpl, err := jinja.Parse(r.Template)
	var text string
	if err == nil {
		now := goldenDay
		if r.Now != "" {
			if now, err = time.Parse("2006-01-02T15:04:05", r.Now); err != nil {
				t.Fatal(err)
			}
		}
		if text, err = tmpl.Render(vars, at(now)); err == nil {
			return answer{OK: &text}
		}
	}
	var e *jinja.Error
	if !errors.As(err, &e) {
		t.Fatalf("%v is not a *jinja.Error", err)
	}
	return answer{Err: e.Class, Message: e.Message, Line: e.Line}
}

// ownRefusal says whether our engine refuses on purpose where Python goes on:
// limits, random text, addresses in memory.
func ownRefusal(a answer) bool { return a.Err == "LimitError" || a.Err == "UnsupportedError" }

// same compares texts, and refusals by class.
func same(a, b answer) bool {
	if a.OK != nil || b.OK != nil {
		return a.OK != nil && b.OK != nil && *a.OK == *b.OK
	}
	return a.Err == b.Err
}

// seed makes a failure repeatable: INTERLOCK_SEED, or 1.
func seed() uint64 {
	n, err := strconv.ParseUint(os.Getenv("INTERLOCK_SEED"), 10, 64)
	if err != nil {
		return 1
	}
	return n
}

// rounds is how many random cases are tried: INTERLOCK_ROUNDS, or standard.
func rounds(standard int) int {
	n, err := strconv.Atoi(os.Getenv("INTERLOCK_ROUNDS"))
	if err != nil {
		return standard
	}
	return n
}

func TestOracleAgreesOnNewConversations(t *testing.T) {
	o := startOracle(t)
	templates := append(fetchedTemplates(t), furtherTemplates(t)...)
	g := &generator{rand.New(rand.NewPCG(seed(), 1))}
	differences := 0
	for range rounds(30) {
		conversation := g.conversation()
		for _, tmpl := range templates {
			vars := map[string]any{}
			vars["bos_token"], vars["eos_token"] = "<BOS>", "<EOS>"
			r := request{Template: tmpl.Text, Vars: mergeJSON(t, vars, conversation)}
			want, got := o.ask(t, r), ours(t, r)
			if !same(want, got) {
				if differences++; differences <= 10 {
					t.Errorf("%s\nwith %s\n got %s\nwant %s", tmpl.Name, conversation, got, want)
				}
			}
		}
	}
	t.Logf("%d templates, %d conversations, %d differences", len(templates), rounds(30), differences)
}

// templatesVariable names folders, parted by spaces, whose *.jinja files are tried
// besides those that were fetched.
const templatesVariable = "INTERLOCK_TEMPLATES"

func furtherTemplates(t *testing.T) []fetch.Template {
	t.Helper()
	var all []fetch.Template
	for _, dir := range strings.Fields(os.Getenv(templatesVariable)) {
		files, err := filepath.Glob(filepath.Join(dir, "*.jinja"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no *.jinja files, %v", dir, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, fetch.Template{Source: dir, Name: filepath.Base(file), Text: string(text)})
		}
	}
	return all
}

func TestOracleAgreesOnNewTemplates(t *testing.T) {
	o := startOracle(t)
	g := &generator{rand.New(rand.NewPCG(seed(), 2))}
	differences, refused := 0, 0
	for range rounds(3000) {
		r := request{Template: g.template(), Vars: json.RawMessage(generatorVars)}
		want, got := o.ask(t, r), ours(t, r)
		if ownRefusal(got) {
			refused++
			continue
		}
		if !same(want, got) {
			if differences++; differences <= 20 {
				t.Errorf("%s\n got %s\nwant %s", r.Template, got, want)
			}
		}
	}
	t.Logf("%d differences, %d refusals of our own", differences, refused)
}

// mergeJSON returns an object with the keys of vars and of the object more.
func mergeJSON(t *testing.T, vars map[string]any, more string) json.RawMessage {
	t.Helper()
	data, err := json.Marshal(vars)
	if err != nil {
		t.Fatal(err)
	}
	return json.RawMessage(strings.TrimSuffix(string(data), "}") + "," + strings.TrimPrefix(more, "{"))
}
