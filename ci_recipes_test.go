package main_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/cli"
	"github.com/interlock-harness/interlock/providers/strictyaml"
)

// toRecipe bounds one run of a recipe.
const toRecipe = 2 * time.Minute

func recipe[T any](t *testing.T, file string) T {
	t.Helper()
	var v T
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := strictyaml.Decode(file, text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// programScript is a file that runs this test binary as interlock.
func programScript(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return script(t, fmt.Sprintf("exec %q %s \"$@\"\n", self, asProgram))
}

func script(t *testing.T, body string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "interlock")
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+body), 0o700); err != nil {
		t.Fatal(err)
	}
	return file
}

// shell runs a script of docs/ci in a folder of its own.
func shell(t *testing.T, dir, file string, env ...string) (code int, output string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), toRecipe)
	defer cancel()
	path, err := filepath.Abs(filepath.Join("docs", "ci", file))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, "bash", path)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

type composite struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Inputs      map[string]struct {
		Description string `json:"description"`
		Default     string `json:"default"`
	} `json:"inputs"`
	Outputs map[string]struct {
		Description string `json:"description"`
		Value       string `json:"value"`
	} `json:"outputs"`
	Runs struct {
		Using string `json:"using"`
		Steps []struct {
			ID    string            `json:"id"`
			Name  string            `json:"name"`
			Uses  string            `json:"uses"`
			If    string            `json:"if"`
			Shell string            `json:"shell"`
			Run   string            `json:"run"`
			Dir   string            `json:"working-directory"`
			Env   map[string]string `json:"env"`
			With  map[string]string `json:"with"`
		} `json:"steps"`
	} `json:"runs"`
}

func TestTheActionHandsEachInputOnInTheEnvironment(t *testing.T) {
	a := recipe[composite](t, "action.yml")
	handed := map[string]bool{}
	for _, step := range a.Runs.Steps {
		if (step.Run == "") == (step.Uses == "") || step.Run != "" && step.Shell == "" {
			t.Errorf("step %q must either use an action, or run something in a named shell", step.Name)
		}
		if strings.Contains(step.Run, "${{") {
			t.Errorf("step %q puts an input into the text of its script", step.Name)
		}
		for name := range a.Inputs {
			for _, value := range step.Env {
				handed[name] = handed[name] || value == "${{ inputs."+name+" }}"
			}
		}
	}
	for name, input := range a.Inputs {
		if !handed[name] || input.Description == "" {
			t.Errorf("input %s is not handed on, or not described", name)
		}
	}
	for name, output := range a.Outputs {
		if output.Value != "${{ steps.run.outputs."+name+" }}" {
			t.Errorf("output %s is %s", name, output.Value)
		}
	}
	last := a.Runs.Steps[len(a.Runs.Steps)-1]
	if a.Runs.Using != "composite" || last.If != "always()" || !strings.Contains(last.Run, "exit") {
		t.Errorf("it is %s, and ends with %+v", a.Runs.Using, last)
	}
}

func TestTheActionsScriptHandsOnWhatInterlockSaid(t *testing.T) {
	program := programScript(t)
	for name, c := range map[string]struct {
		env  []string
		want string // in GITHUB_OUTPUT
	}{
		"gate without a certificate": {[]string{"COMMAND=gate", "FROM=openai-demo", "TO=anthropic-demo", "CONTRACT=invoice"}, "verdict=deny\nexit-code=2\n"},
		"a command that is none":     {[]string{"COMMAND=rm"}, "verdict=usage\nexit-code=64\n"},
		"a scenario that is none":    {[]string{"COMMAND=verify", "SCENARIOS=no-such $(touch ran)", "ARGS=; touch ran"}, "verdict=usage\nexit-code=64\n"},
		"one scenario that passes":   {[]string{"COMMAND=verify", "SCENARIOS=same-key-reordered-json"}, "verdict=pass\nexit-code=0\n"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			output, summary := filepath.Join(dir, "output"), filepath.Join(dir, "summary")
			code, said := shell(t, dir, "action.sh", append(c.env, "INTERLOCK="+program, "OUT=out", "GITHUB_OUTPUT="+output, "GITHUB_STEP_SUMMARY="+summary)...)
			got, _ := os.ReadFile(output)
			if code != 0 || !strings.HasPrefix(string(got), c.want) {
				t.Errorf("exit %d, outputs %q, want %q; it said %s", code, got, c.want, said)
			}
			if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
				t.Error("a text of the inputs was run")
			}
			if c.want == "verdict=pass\nexit-code=0\n" {
				if text, err := os.ReadFile(summary); err != nil || !strings.Contains(string(text), "1 pass") {
					t.Errorf("the summary is %q, %v", text, err)
				}
			}
		})
	}
}

func TestThePlainScriptRepeatsInfrastructureOnly(t *testing.T) {
	for codes, want := range map[string]struct{ code, calls int }{
		"0": {0, 1}, "1": {1, 1}, "2": {2, 1}, "64": {64, 1}, "3 0": {0, 2}, "3 3": {3, 2}, "3 1": {1, 2},
	} {
		t.Run(codes, func(t *testing.T) {
			dir := t.TempDir()
			stub := script(t, `echo call >> calls; n=$(wc -l < calls); set -- `+codes+`; shift $((n-1)); exit "$1"`+"\n")
			code, said := shell(t, dir, "plain.sh", "INTERLOCK="+stub)
			calls, _ := os.ReadFile(filepath.Join(dir, "calls"))
			if code != want.code || strings.Count(string(calls), "call") != want.calls {
				t.Errorf("exit %d after %q, want %+v; it said %s", code, calls, want, said)
			}
		})
	}
}

// understood fails where the program does not know these words: the command, or a
// flag.
func understood(t *testing.T, file string, words []string) {
	t.Helper()
	if err := fits(words); err != nil {
		t.Errorf("%s: interlock %s: %v", file, strings.Join(words, " "), err)
	}
}

// callsOf runs a script of docs/ci with a program in the place of interlock that
// ends with code, and returns the words of each call of it.
func callsOf(t *testing.T, file string, code int, env ...string) (calls [][]string) {
	t.Helper()
	dir := t.TempDir()
	stub := script(t, fmt.Sprintf("printf '%%s\\n' \"$@\" '' >> calls; exit %d\n", code))
	_, said := shell(t, dir, file, append(env, "INTERLOCK="+stub, "GITHUB_OUTPUT="+filepath.Join(dir, "output"))...)
	text, err := os.ReadFile(filepath.Join(dir, "calls"))
	if err != nil {
		t.Fatalf("%s calls nothing: %v: %s", file, err, said)
	}
	for _, call := range strings.Split(strings.TrimSuffix(string(text), "\n\n"), "\n\n") {
		calls = append(calls, strings.Split(call, "\n"))
	}
	return calls
}

// TestTheCommandsOfTheScriptsAreUnderstood looks at what the scripts call, with
// every input that they take.
func TestTheCommandsOfTheScriptsAreUnderstood(t *testing.T) {
	all := []string{"TARGET=http://127.0.0.1:1", "FROM=openai-demo", "TO=anthropic-demo", "CONTRACT=invoice", "CERTS=certificates", "SCENARIOS=double-click", "OUT=out"}
	for _, c := range []struct {
		file  string
		code  int
		env   string
		calls int
		want  string // in the last call
	}{
		{"action.sh", 0, "COMMAND=verify", 1, "--target"},
		{"action.sh", 0, "COMMAND=certify", 1, "--contract"},
		{"action.sh", 0, "COMMAND=gate", 1, "--certs"},
		{"action.sh", 0, "COMMAND=mutants", 1, "--out"},
		{"plain.sh", 0, "X=", 2, "--contract"},
		{"plain.sh", cli.ExitInfrastructure, "X=", 2, "out-again"},
	} {
		calls := callsOf(t, c.file, c.code, append(slices.Clone(all), c.env)...)
		if len(calls) != c.calls || !slices.Contains(calls[len(calls)-1], c.want) {
			t.Errorf("%s with %s and exit %d calls %q, want %d calls and %s in the last", c.file, c.env, c.code, calls, c.calls, c.want)
		}
		for _, words := range calls {
			understood(t, c.file, words)
		}
	}
}

// calledBy is the command that the YAML of a document hands to the action.
var calledBy = regexp.MustCompile(`(?m)^ +command: (.+)\n((?:^ +.*\n)*)`)

// TestTheCallsOfTheActionInTheDocumentsAreUnderstood runs the action's script with
// the inputs that a document shows.
func TestTheCallsOfTheActionInTheDocumentsAreUnderstood(t *testing.T) {
	inputs := recipe[composite](t, "action.yml").Inputs
	seen := 0
	for _, file := range documents(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, use := range calledBy.FindAllStringSubmatch(string(text), -1) {
			seen++
			env := []string{"COMMAND=" + use[1], "OUT=out"}
			for _, line := range regexp.MustCompile(`(?m)^ +(\S+): (.*)$`).FindAllStringSubmatch(use[2], -1) {
				if _, known := inputs[line[1]]; !known {
					t.Errorf("%s: the action has no input %q", file, line[1])
				}
				env = append(env, strings.ToUpper(line[1])+"="+line[2])
			}
			for _, words := range callsOf(t, "action.sh", 0, env...) {
				understood(t, file, words)
			}
		}
	}
	if seen < 2 {
		t.Errorf("%d uses of the action found: docs/ci.md shows two", seen)
	}
}

func TestTheCommandsOfTheOtherRecipesAreUnderstood(t *testing.T) {
	gitlab := recipe[map[string]struct {
		Image     string   `json:"image"`
		Before    []string `json:"before_script"`
		Script    []string `json:"script"`
		Artifacts struct {
			When    string            `json:"when"`
			Paths   []string          `json:"paths"`
			Reports map[string]string `json:"reports"`
		} `json:"artifacts"`
	}](t, "docs/ci/gitlab-ci.yml")
	for _, line := range gitlab["interlock"].Script {
		words, ok := strings.CutPrefix(line, "go tool interlock ")
		if !ok {
			t.Errorf("%q does not run interlock", line)
		}
		understood(t, "gitlab-ci.yml", strings.Fields(words))
	}
	if a := gitlab["interlock"].Artifacts; a.When != "always" || a.Reports["junit"] != a.Paths[0]+"/junit.xml" {
		t.Errorf("artifacts %+v", a)
	}

	job := recipe[map[string]any](t, "docs/ci/kubernetes-job.yaml")
	spec := job["spec"].(map[string]any)
	pod := spec["template"].(map[string]any)["spec"].(map[string]any)
	container := pod["containers"].([]any)[0].(map[string]any)
	var words []string
	for _, w := range container["args"].([]any) {
		words = append(words, w.(string))
	}
	understood(t, "kubernetes-job.yaml", words)
	var mounted []string
	for _, m := range container["volumeMounts"].([]any) {
		mounted = append(mounted, m.(map[string]any)["name"].(string))
	}
	for _, v := range pod["volumes"].([]any) {
		if name := v.(map[string]any)["name"].(string); !slices.Contains(mounted, name) {
			t.Errorf("volume %s is mounted nowhere", name)
		}
	}
	for _, rule := range spec["podFailurePolicy"].(map[string]any)["rules"].([]any) {
		on := rule.(map[string]any)["onExitCodes"].(map[string]any)
		if on["containerName"] != container["name"] {
			t.Errorf("a rule is about container %v", on["containerName"])
		}
	}
}
