package main_test

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// parsedOnly are the commands of the documents that are not run here, each with the
// reason. All that are interlock's own are understood by the program in any case
// (TestEveryCommandOfTheDocumentsIsUnderstood).
var parsedOnly = map[string]string{
	"go run . verify":                                  "every scenario: minutes; go test ./... plays them all",
	"go test ./...":                                    "this very command",
	"go test ./console":                                "a part of go test ./...",
	"go build -o interlock .":                          "done once for all of these commands",
	"apt-get install chromium nodejs npm":              "changes the machine; .ci/run does it",
	"npm ci --prefix console/browser":                  "needs a registry; .ci/run does it",
	"node console/browser/shots.mjs ./interlock shots": "for the eye; needs Chromium and Node",
	"node console/browser/shots.mjs ./interlock shots interlock-out/latest/report.html": "as above",
	"go tool interlock up --open":                                  "opens a browser; TestTheConsoleInABrowser drives one",
	"interlock up":                                                 "stays; the form for scripts is run, and cli/up_test.go starts the others",
	"interlock up --port 9000":                                     "takes a port of the machine; cli/up_test.go takes another",
	"interlock up --open --seed 7":                                 "opens a browser",
	"go tool interlock certify --self-test":                        "every bad provider in every protocol: minutes; providers/certify tests them all",
	"go tool interlock certify --self-test --good-runs 1000":       "ten minutes; providers/certify tests some of them",
	"go tool interlock certify --self-test --protocol openai-chat": "a minute and more; providers/certify tests it",
	"OPENAI_API_KEY=... interlock certify openai --model gpt-x --contract invoice --live":                                                                                                                                  "asks a vendor, for money; cli/vendors_test.go asks stand-ins so",
	"interlock verify --target http://127.0.0.1:8080 --target-keys keys.txt":                                                                                                                                               "needs a service of somebody else; cli/target_test.go and scenarios start one",
	"interlock verify --target http://127.0.0.1:8080,http://127.0.0.1:8081 --target-keys keys.txt --provider openai-demo=127.0.0.1:18081,anthropic-demo=127.0.0.1:18082":                                                   "as above, with two replicas",
	"interlock explore --interleave --target http://127.0.0.1:8080 --target-keys keys.txt --adapter adapter.yaml --provider openai-demo=127.0.0.1:18081,anthropic-demo=127.0.0.1:18082 --target-pg-listen 127.0.0.1:15432": "needs a service of somebody else; cli/explore_target_test.go starts two",
	"providers/prompt/testdata/oracle/run":                                                       "installs the Python library that is compared with",
	"TOKENIZERS=my/tokenizer.json TEMPLATES=my/templates providers/prompt/testdata/oracle/run 7": "as above",
}

// exits are the codes of those that do not end with 0, and what a command reads of
// this folder, since each document is followed in an empty one.
var (
	exits = map[string]int{
		"interlock up --json --no-input": 130, // it is interrupted
		"go tool interlock certify vllm-demo --contract triage --bad no-generation-prompt": 1,
		"go tool interlock certify vllm-demo --contract triage --bad list-literal-content": 1,
		"go tool interlock certify vllm-demo --contract triage --bad system-dropped":       1,
	}
	needs = map[string][]string{"README.md": {"providers/fixtures/exchanges/anthropic-ping.json"}}
	// elsewhere are the documents that a test of their own works through.
	elsewhere = map[string]string{"docs/vendors.md": "cli/vendors_doc_test.go"}
	// stays are commands that end when they are told to.
	stays = map[string]bool{"interlock up --json --no-input": true}
)

// shellLines are the commands of the shell blocks of a document, without comments.
func shellLines(text string) []string {
	var list []string
	for _, block := range regexp.MustCompile("(?s)```(?:sh|bash)[^\n]*\n(.*?)```").FindAllStringSubmatch(text, -1) {
		for _, line := range strings.Split(strings.ReplaceAll(block[1], "\\\n", " "), "\n") {
			line, _, _ = strings.Cut(line, " #")
			if line = strings.Join(strings.Fields(line), " "); line != "" && line[0] != '#' {
				list = append(list, line)
			}
		}
	}
	return list
}

// TestEveryCommandOfTheDocumentsRuns runs the shell blocks of each document, in
// their order, in a folder of its own with the built program. What is not run has a
// reason in parsedOnly, and a reason without a command is an error.
func TestEveryCommandOfTheDocumentsRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("it sets stages")
	}
	bin := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", filepath.Join(bin, "interlock"), ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	ran := 0
	for _, file := range documents(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if elsewhere[file] != "" {
			continue
		}
		var run []string
		for _, line := range shellLines(string(text)) {
			known[line] = true
			if _, no := parsedOnly[line]; !no {
				run = append(run, line)
			}
		}
		if len(run) == 0 {
			continue
		}
		ran += len(run)
		t.Run(file, func(t *testing.T) {
			dir := t.TempDir()
			for _, name := range needs[file] {
				raw, err := os.ReadFile(filepath.Join(root, name))
				if err != nil {
					t.Fatal(err)
				}
				if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, name), raw, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			follow(t, dir, bin, run)
		})
	}
	if ran < 12 {
		t.Errorf("%d commands are run: the documents hold more", ran)
	}
	for line, why := range parsedOnly {
		if !known[line] {
			t.Errorf("%q is in no document any more (%s)", line, why)
		}
	}
}

// toFollow bounds one command.
const toFollow = 5 * time.Minute

// follow runs commands one after the other in one shell folder. Variables that a
// line sets are there for the next, as for a reader.
func follow(t *testing.T, dir, bin string, lines []string) {
	t.Helper()
	given := ""
	for _, line := range lines {
		command := regexp.MustCompile(`go tool interlock\b|go run \.|\./interlock\b`).ReplaceAllString(line, "interlock")
		if regexp.MustCompile(`^\w+=\S*".*"$`).MatchString(command) { // sets a variable for what follows
			given += command + "\n"
			continue
		}
		ctx, cancel := context.WithTimeout(t.Context(), toFollow)
		cmd := exec.CommandContext(ctx, "bash", "-c", given+command)
		if stays[line] {
			cmd = exec.CommandContext(ctx, filepath.Join(bin, "interlock"), strings.Fields(command)[1:]...)
		}
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "XDG_CACHE_HOME="+filepath.Join(dir, "cache"), "XDG_CONFIG_HOME="+filepath.Join(dir, "config"))
		began := time.Now()
		code, said := 0, ""
		if stays[line] {
			code, said = untilItListens(t, cmd)
		} else {
			out, err := cmd.CombinedOutput()
			code, said = exitOf(t, err), string(out)
		}
		cancel()
		t.Logf("%.1f s, exit %d: %s", time.Since(began).Seconds(), code, line)
		if want := exits[line]; code != want {
			t.Fatalf("%s\nexit %d, want %d\n%s", line, code, want, said)
		}
	}
}

// untilItListens starts a command that stays, waits for its first line and tells it
// to end.
func untilItListens(t *testing.T, cmd *exec.Cmd) (code int, said string) {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said, _ = bufio.NewReader(out).ReadString('\n')
	_ = cmd.Process.Signal(os.Interrupt)
	code = exitOf(t, cmd.Wait())
	if !strings.Contains(said, "http://127.0.0.1:") {
		t.Errorf("it says %q", said)
	}
	return code, said
}

func exitOf(t *testing.T, err error) int {
	t.Helper()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	t.Fatal(err)
	return -1
}
