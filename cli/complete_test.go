package cli_test

import (
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
)

// offered are the lines that a shell is told for words of which the last is half
// typed, and whether it offers files too.
func offered(t *testing.T, words ...string) (lines []string, files bool) {
	t.Helper()
	code, out, said := run(t, append([]string{"__complete"}, words...)...)
	lines = strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if code != cli.ExitOK || len(lines) == 0 || !strings.HasPrefix(lines[len(lines)-1], ":") {
		t.Fatalf("__complete %q: exit %d: %s%s", words, code, out, said)
	}
	const noFiles = 4
	directive := 0
	if _, err := fmt.Sscanf(lines[len(lines)-1], ":%d", &directive); err != nil {
		t.Fatal(err)
	}
	return lines[:len(lines)-1], directive&noFiles == 0
}

// TestNamesAreOfferedWhereNamesAreWanted works in a folder without a project.
func TestNamesAreOfferedWhereNamesAreWanted(t *testing.T) {
	t.Chdir(t.TempDir())
	for words, c := range map[string]struct {
		want  string // a line of them; empty: none
		least int
		files bool
	}{
		"verify rev":                                {"reverse-order\ttwo attempts finish in another order", 1, false},
		"verify ":                                   {"double-click\t", 60, false},
		"verify reverse-order double":               {"double-click\t", 1, false},
		"verify --label sub":                        {"submit\tgroup", 1, false},
		"verify --label submit&&!L":                 {"submit&&!L2\tlevel", 3, false},
		"verify --level ":                           {"L2", 4, false},
		"verify --provider open":                    {"openai-demo=\topenai-chat ", 1, false},
		"verify --mismatch-status ":                 {"422", 2, false},
		"verify --seed ":                            {"", 0, false},
		"verify --target-keys ":                     {"", 0, true},
		"verify --out ":                             {"", 0, true},
		"verify --time":                             {"--timeout\tgive up after this time", 1, false},
		"mutants last":                              {"last-write-wins\t", 1, false},
		"mutants --scenario simul":                  {"simultaneous-finish\t", 1, false},
		"certify anthropic-d":                       {"anthropic-demo\tanthropic-messages ", 1, false},
		"certify openai":                            {"openai\tvendor, with --model: openai-chat", 2, false},
		"certify anthropic-demo ":                   {"", 0, false},
		"certify anthropic-demo --contract inv":     {"invoice\tinvoice@1.0.0", 1, false},
		"certify x --contract invoice --case de-":   {"de-heizung\tcase of invoice@1.0.0", 1, false},
		"certify x --contract invoice --case a,de-": {"a,de-heizung\tcase of invoice@1.0.0", 1, false},
		"certify x --case ":                         {"", 0, false},
		"certify x --contract nope --case ":         {"", 0, false},
		"certify x --check S0":                      {"S02\t", 5, false},
		"certify x --bad below":                     {"below-minimum\tthe provider that ", 1, false},
		"certify --self-test --protocol gem":        {"gemini", 1, false},
		"certify x --primary openai-d":              {"openai-demo\t", 1, false},
		"certify x --profiles ":                     {"", 0, true},
		"certify x --profiles . --primary ":         {"", 0, false},
		"certify x --key-file ":                     {"", 0, true},
		"gate --from openai-d":                      {"openai-demo\t", 1, false},
		"gate --to=anth":                            {"anthropic-demo\t", 1, false},
		"gate --from a --to b --contract tri":       {"triage\ttriage@", 1, false},
		"gate --mode ":                              {"json_schema", 2, false},
		"gate --wait ":                              {"", 0, false},
		"gate ":                                     {"", 0, false},
		"record open":                               {"openai-demo\t", 2, false},
		"explain I1":                                {"I10\t", 7, false},
		"explain unkn":                              {"unknown\tattempt state", 1, false},
		"explain 13":                                {"130\texit code", 1, false},
		"explain I5 ":                               {"", 0, false},
		"replay ":                                   {"json", 1, true},
		"replay reverse":                            {"reverse-order@\t", 1, true},
		"bench service --baseline ":                 {"", 0, true},
		"judge ":                                    {"", 0, true},
		"report merge ":                             {"", 0, true},
		"bench serv":                                {"service\trates beside those of pgbench", 1, false},
		"bench service --only new,li":               {"new,lives", 1, false},
		"doctor ":                                   {"", 0, false},
		"version --color ":                          {"always", 3, false},
		"healthcheck ":                              {"", 0, false},
		"contract lint --protocol openai-c":         {"openai-chat", 1, false},
		"prompt check vllm":                         {"vllm-demo\t", 1, true},
		"prompt show vllm-demo --case ":             {"", 0, false},
		"prompt show x --contract triage --case ar": {"ar-tawsil\tcase of triage@", 1, false},
		"serve --owner":                             {"--owner-rate\tsubmits and starts of one owner a second", 1, false},
		"serve --keys ":                             {"", 0, true},
		"serve --lease ":                            {"", 0, false},
		"serve --migrate --mut":                     {"", 0, false},
		"up --port ":                                {"", 0, false},
		"completion ":                               {"fish\t", 4, false},
		"exp":                                       {"explore\tlook for a violation where no scenario looks", 2, false},
	} {
		lines, files := offered(t, strings.Split(words, " ")...)
		found := c.want == "" || slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, c.want) })
		if !found || len(lines) < c.least || c.least == 0 && len(lines) > 0 || files != c.files {
			t.Errorf("%q: files %v, want %v, and %d lines, want at least %d with %q: %.300q", words, files, c.files, len(lines), c.least, c.want, lines)
		}
		typed := words[strings.LastIndexAny(words, " =")+1:]
		for _, line := range lines {
			if c.want != "json" && !strings.HasPrefix(line, typed) {
				t.Errorf("%q is offered %q", words, line)
			}
		}
	}
	if lines, _ := offered(t, "verify", "reverse-order", "reverse"); len(lines) > 0 {
		t.Errorf("what was given is offered again: %q", lines)
	}
	if left, err := os.ReadDir("."); err != nil || len(left) > 0 {
		t.Errorf("it left %v, %v", left, err)
	}
}

// TestPlansThatAreThereAreOffered looks into the folder where explore writes them.
func TestPlansThatAreThereAreOffered(t *testing.T) {
	t.Chdir(t.TempDir())
	dir := filepath.Join("interlock-out", "run-1", "plans")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "7-12.json"), `{"format":"interlock-plan/1","seed":7,"number":12,"invariant":"I5","steps":[{"do":"lost-response","job":"a"},{"do":"submit","job":"a"}]}`)
	write(t, filepath.Join(dir, "broken.json"), `{`)
	if lines, _ := offered(t, "replay", "inter"); len(lines) != 1 || lines[0] != filepath.Join(dir, "7-12.json")+"\tI5, 1 operations, 1 faults" {
		t.Errorf("offered are %q", lines)
	}
}

// TestDeployedNamesAreOffered takes profiles and contracts from the folders that the
// command line names.
func TestDeployedNamesAreOffered(t *testing.T) {
	vendor(t, "") // goes to a folder with profiles/vendor.yaml
	for _, words := range []string{"certify --profiles profiles ven", "gate --profiles profiles --to ven"} {
		lines, _ := offered(t, strings.Split(words, " ")...)
		if !slices.Contains(lines, "vendor\topenai-chat m-1") {
			t.Errorf("%s: %q", words, lines)
		}
	}
	write(t, "interlock.toml", "[verify\n") // a broken setting keeps nobody from typing
	if lines, _ := offered(t, "verify", "reverse-o"); len(lines) != 1 {
		t.Errorf("beside a broken file: %q", lines)
	}
}

// TestFilesAreOfferedOnlyWhereAFlagTakesOne compares what is offered with what the
// help says of each flag.
func TestFilesAreOfferedOnlyWhereAFlagTakesOne(t *testing.T) {
	t.Chdir(t.TempDir())
	elsewhere := map[string]bool{"bad": true, "issuer": true} // names, of which a file or folder is told
	seen := 0
	for _, command := range cli.CommandPaths() {
		if command == "serve" || command == "migrate" { // above
			continue
		}
		words := strings.Fields(command)
		_, help, _ := run(t, append(slices.Clone(words), "--help")...)
		for _, flag := range regexp.MustCompile(`(?m)^ +(?:-\w, )?--([a-z-]+) (string|strings|FILE|URL|int|float|duration) +(.*)$`).FindAllStringSubmatch(help, -1) {
			seen++
			name, kind, text := flag[1], flag[2], strings.ToLower(flag[3])
			if elsewhere[name] {
				continue
			}
			wants := kind == "FILE" || kind[0] == 's' && regexp.MustCompile(`\bfolders?\b|\bfile\b|sign with this key|built program`).MatchString(text)
			if _, files := offered(t, append(slices.Clone(words), "--"+name, "")...); files != wants {
				t.Errorf("%s --%s: files are offered: %v, and the help says: %s", command, name, files, flag[3])
			}
		}
	}
	if seen < 150 {
		t.Errorf("%d flags were found: there are more", seen)
	}
}

// TestCompletionAnswersWhileSomebodyTypes bounds the work, not the time: this machine
// may be busy.
func TestCompletionAnswersWhileSomebodyTypes(t *testing.T) {
	const most = time.Second // of the processor, in the best of three runs; a tenth is usual
	best := time.Hour
	for range 3 {
		cmd := exec.CommandContext(t.Context(), os.Args[0], asProgram, "__complete", "certify", "x", "--contract", "invoice", "--case", "")
		cmd.Dir = t.TempDir()
		if out, err := cmd.Output(); err != nil || !strings.Contains(string(out), "de-heizung") {
			t.Fatalf("%v: %s", err, out)
		}
		best = min(best, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	}
	if best > most {
		t.Errorf("it took %s of the processor, at most %s", best, most)
	}
	t.Logf("it took %s of the processor", best)
}

// TestCompletionScriptsAreValid has each shell read its script. CI installs zsh and
// fish; PowerShell is in no archive of Debian, so there its script is only compared
// with itself: it must hold the call of the program.
func TestCompletionScriptsAreValid(t *testing.T) {
	for shell, args := range map[string][]string{"bash": {"bash", "-n"}, "zsh": {"zsh", "-n"}, "fish": {"fish", "--no-execute"}, "powershell": {"pwsh", "-NoProfile", "-File"}} {
		t.Run(shell, func(t *testing.T) {
			code, script, said := run(t, "completion", shell)
			if code != cli.ExitOK || said != "" || !strings.Contains(script, "__complete") {
				t.Fatalf("exit %d: %.300s%s", code, script, said)
			}
			program, err := exec.LookPath(args[0])
			if err != nil {
				t.Skipf("%s is not installed", args[0])
			}
			check := func(name, text string) error {
				file := filepath.Join(t.TempDir(), name)
				write(t, file, text)
				out, err := exec.CommandContext(t.Context(), program, append(slices.Clone(args[1:]), file)...).CombinedOutput()
				if err == nil && len(out) > 0 {
					err = fmt.Errorf("it says %s", out)
				}
				return err
			}
			if err := check("script", script); err != nil {
				t.Error(err)
			}
			if check("cut", script[:strings.Index(script, "__complete")]+"\n'") == nil {
				t.Error("half of the script is accepted, too")
			}
		})
	}
}

// TestBashAndFishComplete types half a word in the shell itself.
func TestBashAndFishComplete(t *testing.T) {
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "interlock"), []byte(fmt.Sprintf("#!/bin/sh\nexec '%s' %s \"$@\"\n", os.Args[0], asProgram)), 0o755); err != nil {
		t.Fatal(err)
	}
	const bash = `_get_comp_words_by_ref() { cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} words=("${COMP_WORDS[@]}") cword=$COMP_CWORD; } # of bash-completion
compopt() { :; } # for the shell's own call
source <(interlock completion bash)
COMP_WORDS=(interlock verify reverse-o) COMP_CWORD=2 COMP_LINE='interlock verify reverse-o' COMP_POINT=26 COMP_TYPE=9
__start_interlock
printf '%s\n' "${COMPREPLY[@]}"
`
	for shell, args := range map[string][]string{
		"bash": {"bash", "--norc", "-c", bash},
		"fish": {"fish", "--no-config", "-c", "interlock completion fish | source; complete --do-complete 'interlock verify reverse-o'"},
	} {
		t.Run(shell, func(t *testing.T) {
			program, err := exec.LookPath(shell)
			if err != nil {
				t.Skipf("%s is not installed", shell)
			}
			cmd := exec.CommandContext(t.Context(), program, args[1:]...)
			cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "XDG_CONFIG_HOME="+bin, "XDG_DATA_HOME="+bin)
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.HasPrefix(string(out), "reverse-order") || strings.Count(string(out), "\n") != 1 {
				t.Errorf("%v: %q", err, out)
			}
		})
	}
}
