package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// listed is what verify --list shows under the settings of a test: one line for
// each scenario that the label selects.
func listed(t *testing.T, args ...string) (code, lines int, stderr string) {
	t.Helper()
	code, stdout, stderr := run(t, append([]string{"verify", "--list"}, args...)...)
	return code, strings.Count(stdout, "\n"), stderr
}

func TestFlagsWinOverTheEnvironmentOverTheProjectOverTheUser(t *testing.T) {
	project, home := t.TempDir(), t.TempDir()
	t.Chdir(project)
	t.Setenv("XDG_CONFIG_HOME", home)
	t.Setenv("HOME", home)
	_, all, _ := listed(t)
	user, err := os.UserConfigDir()
	if err != nil {
		t.Skip("this machine has no folder for a user's settings")
	}
	if err := os.MkdirAll(filepath.Join(user, "interlock"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(user, "interlock", "interlock.toml"), "[verify]\nlabel = \"canary\"\n")
	if _, n, _ := listed(t); n != 2 {
		t.Errorf("the user's settings select %d scenarios, want the 2 canaries", n)
	}
	write(t, "interlock.toml", "[verify]\nlabel = \"breakpoints\"\n")
	_, breakpoints, _ := listed(t)
	if breakpoints == 2 || breakpoints == all {
		t.Errorf("the project's settings select %d of %d scenarios", breakpoints, all)
	}
	t.Setenv("INTERLOCK_LABEL", "canary")
	if _, n, _ := listed(t); n != 2 {
		t.Errorf("the environment selects %d scenarios, want 2", n)
	}
	if _, n, _ := listed(t, "--label", "breakpoints"); n != breakpoints {
		t.Errorf("the flag selects %d scenarios, want %d", n, breakpoints)
	}
	if _, n, _ := listed(t, "--label", ""); n != all {
		t.Errorf("an empty flag selects %d scenarios, want all %d", n, all)
	}
}

func TestGlobalSettingsStandAboveTheTables(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "interlock.toml", "json = true\n[verify]\nlabel = \"canary\"\n")
	if code, stdout, _ := run(t, "verify", "--list"); code != 0 || !strings.HasPrefix(stdout, "{") {
		t.Errorf("exit %d, %q", code, stdout)
	}
}

func TestMistakesInSettingsAreOneSentenceAndExit64(t *testing.T) {
	for want, text := range map[string]string{
		"interlock.toml:2 is not TOML":                "[verify]\nlabel = \n",
		"[verfy] is no command. Did you mean verify?": "[verfy]\nlabel = \"x\"\n",
		"has no flag \"lable\". Did you mean label?":  "[verify]\nlable = \"x\"\n",
		"has no flag \"threshold\"":                   "[gate]\nthreshold = 1\n", // another command's table is read too
		"has no flag \"mutant\"":                      "[verify]\nmutant = \"x\"\n",
		"must be a text, a number":                    "[verify]\nlabel = 2026-01-01\n",
		"list of texts without commas":                "[verify]\ntarget = [\"a,b\"]\n",
		"--github cannot be \"perhaps\"":              "[verify]\ngithub = \"perhaps\"\n",
	} {
		t.Run(want, func(t *testing.T) {
			t.Chdir(t.TempDir())
			write(t, "interlock.toml", text)
			code, _, stderr := listed(t)
			if code != 64 || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
				t.Errorf("exit %d: %q", code, stderr)
			}
		})
	}
	if code, _, stderr := listed(t, "--config", "no-such.toml"); code != 64 || !strings.Contains(stderr, "there is no file of settings no-such.toml") {
		t.Errorf("exit %d: %q", code, stderr)
	}
	t.Setenv("INTERLOCK_GITHUB", "perhaps")
	if code, _, stderr := listed(t); code != 64 || !strings.Contains(stderr, "INTERLOCK_GITHUB: --github cannot be") {
		t.Errorf("exit %d: %q", code, stderr)
	}
}
