package report_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/russross/blackfriday/v2"
	"golang.org/x/net/html"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/hostile"
	"github.com/interlock-harness/interlock/harness/report"
)

// outputs are all that a run is shown as, by name.
func outputs(t *testing.T, texts []string) map[string]string {
	t.Helper()
	plays := map[string][]history.Event{}
	bad := stored(t, "bad-last-write-wins")["bad-last-write-wins"]
	for i, text := range texts {
		plays[fmt.Sprintf("play-%03d", i)] = poison(bad, text)
	}
	s := newRun(t, filepath.Join(memory(t), "out"), plays, nil, nil)
	s.run.Target, s.run.Stage = texts[0], texts[0]
	for i := range s.run.Plays {
		p := &s.run.Plays[i]
		p.Trouble, p.Fault = texts[i], texts[i]
		f := &p.Result.Findings[0]
		f.Found, f.Expected, f.Sentence = texts[i], texts[i], "The answer was "+texts[i]+" and no other."
	}
	if err := s.folder.Write(&s.run); err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, file := range []string{report.JUnitFile, report.CTRFFile, report.SummaryFile, report.HTMLFile, report.ReportFile} {
		all[file] = read(t, s.folder.Dir, file)
	}
	by := report.ByPlay(s.folder.Recorder.Events())
	for name, style := range map[string]report.Style{"terminal": {}, "terminal in colour": {Color: true}} {
		all[name] = s.run.Summary(report.Places{HTML: "report.html"}, style)
		for _, p := range s.run.Plays {
			all[name] += s.run.Violation(p, by[p.History], report.Places{HTML: "report.html"}, style)
		}
	}
	var b bytes.Buffer
	for name, write := range map[string]func() error{
		"annotations": func() error { return s.run.Annotations(&b, by) },
		"perfetto":    func() error { return report.Perfetto(&b, &s.run, s.folder.Recorder.Events()) },
		"otlp":        func() error { return report.OTLP(&b, &s.run, s.folder.Recorder.Events()) },
	} {
		b.Reset()
		if err := write(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all[name] = b.String()
	}
	if _, err := report.Check(s.folder.Dir); err != nil {
		t.Errorf("check: %v", err)
	}
	return all
}

// TestFiveHundredHostileTextsHaveNoEffect compares each output with that of a
// harmless text: the same elements, keys and lines, nothing that drives a
// terminal, no command of a build's runner.
func TestFiveHundredHostileTextsHaveNoEffect(t *testing.T) {
	const batch = 30
	harmless := make([]string, batch)
	for i := range harmless {
		harmless[i] = fmt.Sprintf("nothing %d", i)
	}
	want := outputs(t, harmless)
	tried := 0
	texts := hostile.Texts()
	for some := range slices.Chunk(texts, batch) {
		for tried += len(some); len(some) < batch; {
			some = append(slices.Clone(some), some[0])
		}
		for name, out := range outputs(t, some) {
			for _, problem := range effects(name, out, want[name], true) {
				t.Errorf("%s of texts %d to %d, %.40q: %s", name, tried-batch, tried, some[0], problem)
			}
		}
	}
	if tried < 500 {
		t.Errorf("%d texts were tried", tried)
	}
}

// columns are those of the strip that shows the whole run.
var columns = regexp.MustCompile(`<g class="c-[a-z]*" data-play="[^"<>]*">.*?</g>`)

// surplus is an element that occurs more often in got than in want. A page leaves
// out what it has no room for, so fewer of some say nothing.
func surplus(got, want []string) string {
	left := map[string]int{}
	for _, e := range want {
		left[e]++
	}
	for _, e := range got {
		if left[e]--; left[e] < 0 {
			return e
		}
	}
	return ""
}

// memory is a folder that needs no disk, where this machine has one.
func memory(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "interlock-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// TestAnEffectIsSeen keeps effects honest: each output is one that has fallen for
// a text.
func TestAnEffectIsSeen(t *testing.T) {
	for _, c := range []struct{ name, out, want string }{
		{"terminal", "a\x1b[2Jb\n", "a\n"}, {"terminal in colour", "\x1b[31ma\x1b[0m\x1b]0;x\x07\n", "a\n"}, {"terminal", "a\n::error::x\n", "a\nb\n"},
		{"terminal", "a ##[error]x\n", "a\n"}, {"annotations", "::error ::a\n::error ::b\n", "::error ::a\n"},
		{report.HTMLFile, "<p>a<b>x</b></p>", "<p>a</p>"}, {report.HTMLFile, `<p onclick="x">a</p>`, "<p>a</p>"}, {report.HTMLFile, "<script>alert(1)</script>", "<script>0</script>"},
		{report.HTMLFile, `<a href="javascript:x">a</a>`, `<a href="#x">a</a>`},
		{report.JUnitFile, "<a><b></b><b></b></a>", "<a><b></b></a>"}, {report.JUnitFile, "<a>", "<a></a>"}, {report.SummaryFile, "a <b>x</b>\n", "a\n"}, {report.SummaryFile, "# x\n", "x\n"},
		{report.CTRFFile, `{"a":1,"b":2}`, `{"a":1}`}, {"otlp", "{\n", "{}\n"}, {"perfetto", `{"a":"` + "\u202e" + `"}`, `{"a":""}`},
	} {
		if len(effects(c.name, c.out, c.want, false)) == 0 {
			t.Errorf("%s: nothing is seen in %q", c.name, c.out)
		}
		if found := effects(c.name, c.want, c.want, true); len(found) > 0 && c.name != report.JUnitFile {
			t.Errorf("%s: %q in what is harmless", c.name, found)
		}
	}
}

// colours are the escapes that our own styles write.
var colours = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// effects says what a text has done to an output, beside one of a harmless text;
// of one where something may be left out, only what is there too much.
func effects(name, out, harmless string, leftOut bool) (found []string) {
	see := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	same := func(what string, shape func(string) (string, error)) {
		got, err := shape(out)
		if err != nil {
			see("%v", err)
			return
		}
		want, _ := shape(harmless)
		if leftOut && name == report.HTMLFile || leftOut && name == report.SummaryFile {
			if more := surplus(strings.Split(got, "<"), strings.Split(want, "<")); more != "" {
				see("more %s than there must be: %q", what, more)
			}
			return
		}
		if got != want {
			at := 0
			for at < min(len(got), len(want)) && got[at] == want[at] {
				at++
			}
			see("other %s: %q where %q must be", what, got[at:min(len(got), at+80)], want[at:min(len(want), at+80)])
		}
	}
	text := out
	if name == "terminal in colour" {
		same("colours", func(s string) (string, error) { return strings.Join(colours.FindAllString(s, -1), ""), nil })
		text = colours.ReplaceAllString(text, "")
	}
	for _, r := range text {
		if r != '\n' && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)) && name != report.HTMLFile && name != report.ReportFile {
			see("it holds %U", r)
			break
		}
	}
	switch name {
	case report.HTMLFile:
		// how many columns the strip has, and where it has gaps, is a matter of time
		same("elements", func(s string) (string, error) { return domShape(columns.ReplaceAllString(s, "")) })
		for _, column := range columns.FindAllString(out, -1) {
			if strings.Count(column, "<") > 5 {
				see("a column of the strip holds more than it must: %q", column)
			}
		}
	case report.JUnitFile:
		same("elements", xmlShape)
	case report.SummaryFile:
		same("elements", func(s string) (string, error) {
			s = regexp.MustCompile(`(?m)^\d+ more in the report\.\n`).ReplaceAllString(s, "")
			return domShape(string(blackfriday.Run([]byte(s), blackfriday.WithExtensions(blackfriday.CommonExtensions))))
		})
	case report.CTRFFile, report.ReportFile, "perfetto", "otlp":
		same("keys", jsonShape)
	default:
		commands := func(s string) (string, error) {
			var list []string
			for _, line := range strings.Split(s, "\n") {
				if command, _, is := strings.Cut(strings.TrimLeft(line, " \t"), "::"); is && command == "" {
					list = append(list, strings.Fields(line)[0])
				}
				list = append(list, regexp.MustCompile(`##\[|##vso\[|section_(start|end):`).FindAllString(line, -1)...)
			}
			return strings.Join(list, "\n"), nil
		}
		same("commands", commands)
		if name == "annotations" {
			same("lines", func(s string) (string, error) { return fmt.Sprint(strings.Count(s, "\n")), nil })
		}
	}
	return found
}

// domShape is the tree of elements with their attributes' names, where they lead,
// and what scripts and styles hold.
func domShape(page string) (string, error) {
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		return "", err
	}
	var b strings.Builder
	var walk func(*html.Node)
	walk = func(n *html.Node) {
		if n.Type == html.CommentNode {
			b.WriteString("<!>")
		}
		if n.Type == html.ElementNode {
			b.WriteString("<" + n.Data)
			data := false
			for _, a := range n.Attr {
				if a.Key != "download" {
					b.WriteString(" " + a.Key)
				}
				switch a.Key {
				case "href", "src", "action", "style", "id", "class":
					b.WriteString("=" + regexp.MustCompile(`^(data:application/[a-z]+;.*|[a-z]+\.(jsonl?|xml))$`).ReplaceAllString(a.Val, "evidence"))
				case "type":
					data = strings.Contains(a.Val, "json") || strings.Contains(a.Val, "plain")
				}
			}
			b.WriteString(">")
			if (n.Data == "script" || n.Data == "style") && !data && n.FirstChild != nil {
				b.WriteString(n.FirstChild.Data)
			}
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
		if n.Type == html.ElementNode {
			b.WriteString("</>")
		}
	}
	walk(root)
	return b.String(), nil
}

func xmlShape(text string) (string, error) {
	decoder := xml.NewDecoder(strings.NewReader(text))
	var b strings.Builder
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return b.String(), nil
		}
		if err != nil {
			return "", err
		}
		switch e := token.(type) {
		case xml.StartElement:
			b.WriteString("<" + e.Name.Local)
			for _, a := range e.Attr {
				b.WriteString(" " + a.Name.Local)
			}
		case xml.EndElement:
			b.WriteString(">")
		case xml.Comment, xml.Directive:
			b.WriteString("!")
		}
	}
}

// jsonShape is the tree of keys of one or more JSON values, one a line.
func jsonShape(text string) (string, error) {
	decoder := json.NewDecoder(strings.NewReader(text))
	var b strings.Builder
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, k := range slices.Sorted(maps.Keys(v)) {
				b.WriteString(k + "{")
				walk(v[k])
				b.WriteString("}")
			}
		case []any:
			shapes := make([]string, len(v)) // sorted: some lists are in the order of the texts
			for i, e := range v {
				raw, _ := json.Marshal(e)
				shapes[i], _ = jsonShape(string(raw))
			}
			slices.Sort(shapes)
			shapes = slices.Compact(shapes) // a lane for each text, and some are alike
			b.WriteString("[" + strings.Join(shapes, ",") + "]")
		}
	}
	for {
		var v any
		err := decoder.Decode(&v)
		if errors.Is(err, io.EOF) {
			return b.String(), nil
		}
		if err != nil {
			return "", err
		}
		walk(v)
		b.WriteString("\n")
	}
}

// few is a page's worth of the texts: some of each family, for tests that open a
// browser for each.
func few() []string {
	var some []string
	for i, text := range hostile.Texts() {
		if i%20 == 0 {
			some = append(some, text)
		}
	}
	return some
}

// markup are the texts that a browser could take for elements.
func markup() []string {
	return slices.DeleteFunc(hostile.Texts(), func(text string) bool { return !strings.Contains(text, "<") || len(text) > 200 })
}
