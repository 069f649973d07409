package report_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/harness/hostile"
	"github.com/interlock-harness/interlock/harness/report"
)

func TestUntrustedTextIsHarmlessInEachSink(t *testing.T) {
	long := strings.Repeat("x", 200)
	for _, c := range []struct {
		sink, text, want string
	}{
		{"terminal", "\x1b[2J\x07", `\x1b[2J\x07`},
		{"terminal", "\u009b2J", `\x9b2J`},
		{"terminal", "\x9b2J", `\x9b2J`}, // the raw C1 byte, which is no UTF-8
		{"terminal", "a\nb", `a\x0ab`},
		{"terminal", "\u202eabc", `\u202eabc`},
		{"terminal", "\U000e0041", `\U000e0041`},
		{"terminal", "മലയാളം தமிழ் é", "മലയാളം தமிழ் é"},
		{"terminal", "e\u0301\u0301\u0301\u0301", "e\u0301\u0301\\u0301\\u0301"},
		{"terminal", long, long[:128] + "…"},
		{"xml", "\x08\ufffe]]>", `\u0008\ufffe]]>`},
		{"markdown", "[x](http://evil) @team #1", "`[x](http://evil) @team #1`"},
		{"markdown", "a``b", "```a``b```"},
		{"markdown", "`", "`` ` ``"},
		{"markdown", "a|b", "`a\\u007cb`"},
		{"markdown", "", ""},
		{"csv", `=HYPERLINK("x")`, `'=HYPERLINK("x")`},
		{"csv", "-1", "-1"},
		{"csv", "+1x", "'+1x"},
		{"csv", "@x", "'@x"},
		{"csv", "\t=1", `'\x09=1`},
		{"ci", "::set-output name=v::pass", `:\:set-output name=v:\:pass`},
		{"ci", ":::x", `:\:\:x`},
		{"ci", "##vso[task.complete]", `#\#vso[task.complete]`},
		{"ci", "section_start:1:x", `s\ection_start:1:x`},
	} {
		u := report.Untrusted(c.text)
		got := map[string]func() string{"terminal": u.Terminal, "xml": u.XML, "markdown": u.Markdown, "csv": u.CSV, "ci": u.CI}[c.sink]()
		if got != c.want {
			t.Errorf("%s of %q is %q, want %q", c.sink, c.text, got, c.want)
		}
	}
}

// TestPastedCommandsRunNothingElse asks a real shell what it makes of them.
func TestPastedCommandsRunNothingElse(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal("bash is needed to check the quoting: ", err)
	}
	words := append([]string{"", "plain", "two words", "it's", "a\"b", "*", "~", "!x", "a;b", "a&b", "$(id)", "`id`", "$HOME", "\\", "a\\'b", "#x", "-rf", "{a,b}", "<(id)"}, hostile.Texts()...)
	for _, w := range words {
		if strings.ContainsRune(w, 0) {
			w = strings.ReplaceAll(w, "\x00", "") // no argument can hold it
		}
		quoted := report.Shell(w)
		if strings.ContainsAny(quoted, "\n\r\x1b") {
			t.Errorf("%q is quoted over several lines: %q", w, quoted)
		}
		out, err := exec.Command(bash, "-c", "printf %s "+quoted).Output()
		if err != nil || string(out) != w {
			t.Errorf("%q quoted as %s comes out as %q (%v)", w, quoted, out, err)
		}
	}
}
