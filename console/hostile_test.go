package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"golang.org/x/net/html"

	"github.com/interlock-harness/interlock/harness/fault"
	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/hostile"
)

// ours are the texts of the views that come from this program alone, by type and
// field, or all of a type: what its pages, switches and scenarios are called, labels
// of attempts, classes of what is drawn, links that are escaped already.
var ours = map[string]bool{
	"page.*": true, "frame.*": true, "entry.*": true, "place.*": true, "way.*": true, "standing.*": true, "stop.*": true, "choice.*": true, "mood.*": true, "filter.*": true,
	"gateView.Providers": true, "matrix.*": true, "matrixRow.*": true, "cell.To": true, "providerView.*": true, "Provider.*": true, "Info.*": true, "scenarioGroup.*": true,
	"jobView.Sentence": true, "jobView.Trigger": true, "jobView.Fallback": true, "curl.Name": true, "attemptView.Label": true, "moveView.Label": true,
	"raceView.Label": true, "raceView.Winner": true, "raceRow.Late": true, "raceRow.Winner": true, "callView.Outcome": true,
	"bar.Class": true, "bar.Pattern": true, "bar.Anchor": true, "bar.Sign": true, "tick.*": true, "reply.Actor": true, "reply.Method": true, "pastRun.Link": true,
}

// soiled is a fault that says text.
type soiled struct {
	fault.Fault
	text  string
	fired bool
}

func (s soiled) Fired() bool      { return s.fired }
func (s soiled) Evidence() string { return s.text }

// soil puts text wherever a view can hold one, and yes into every choice, so that
// both sides of each condition of a template are seen.
func soil(v reflect.Value, text string, yes bool) {
	if !v.CanSet() && v.Kind() != reflect.Struct {
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		v.SetBool(yes)
	case reflect.Int, reflect.Int64:
		v.SetInt(2)
	case reflect.Float64:
		v.SetFloat(2)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		soil(v.Elem(), text, yes)
	case reflect.Slice:
		if raw, is := v.Interface().(json.RawMessage); is {
			raw, _ = json.Marshal(map[string]string{"text": text})
			v.SetBytes(raw)
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			soil(v.Index(i), text, yes)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			if yes {
				v.Set(reflect.ValueOf(time.Unix(1_700_000_000, 0)))
			}
			return
		}
		if v.Type() == reflect.TypeFor[standing]() {
			v.Addr().Interface().(*standing).fault = soiled{text: text, fired: yes}
		}
		for i := range v.NumField() {
			field := v.Type().Field(i)
			if !field.IsExported() && !field.Anonymous {
				continue
			}
			what, kind := text, field.Type.String()
			if (kind == "string" || kind == "[]string") && (ours[v.Type().Name()+"."+field.Name] || ours[v.Type().Name()+".*"]) {
				what = "/ours"
			}
			soil(v.Field(i), what, yes)
		}
	}
}

// views are the pages by name, each over an empty view of its kind; without that of
// a problem, whose words are this program's own.
func views() map[string]any {
	return map[string]any{
		"try": &tryView{}, "tour": &[]stopView{}, "jobs": &jobsView{}, "job": &jobView{}, "providers": &[]providerView{}, "faults": &faultsView{},
		"gate": &gateView{}, "races": &[]raceRow{}, "runs": &runsView{}, "missing": new(string),
	}
}

// least is how often a text stands in a page at the least: fewer, and nothing is
// tested.
var least = map[string]int{"try": 20, "tour": 20, "jobs": 4, "job": 20, "providers": 10, "faults": 5, "gate": 8, "races": 5, "runs": 8, "missing": 1}

// soiledPage is a page whose every text is that one.
func soiledPage(t *testing.T, name, text string, yes bool) string {
	t.Helper()
	view := reflect.ValueOf(views()[name]).Elem()
	soil(view, text, yes)
	p := page{}
	soil(reflect.ValueOf(&p).Elem(), text, yes)
	p.Name, p.View = name, view.Interface()
	var b bytes.Buffer
	if err := pages[name].ExecuteTemplate(&b, "frame", p); err != nil {
		t.Fatalf("%s with %.40q: %v", name, text, err)
	}
	return b.String()
}

// seen is what a browser makes of a page: its elements with their attributes, and
// what is wrong with it.
func seen(text string) (shape string, wrong []string) {
	root, err := html.Parse(strings.NewReader(text))
	if err != nil {
		return "", []string{err.Error()}
	}
	look := func(where, s string) {
		for _, r := range s {
			if r != '\n' && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)) {
				wrong = append(wrong, fmt.Sprintf("%s holds %U", where, r))
				return
			}
		}
	}
	var b strings.Builder
	for n := range root.Descendants() {
		switch n.Type {
		case html.CommentNode:
			b.WriteString("<!>\n")
		case html.TextNode:
			if name := n.Parent.Data; name != "textarea" { // what a person types stands there as it was typed
				look("the text of "+name, n.Data)
			}
		case html.ElementNode:
			b.WriteString(n.Data)
			for _, a := range n.Attr {
				b.WriteString(" " + a.Key)
				switch a.Key {
				case "class", "type", "style", "fill", "method", "rel", "role":
					b.WriteString("=" + a.Val)
				case "href", "src", "action", "formaction":
					if !strings.HasPrefix(a.Val, "/") && a.Val != "#main" || strings.HasPrefix(a.Val, "//") {
						wrong = append(wrong, fmt.Sprintf("%s leads to %.60q", a.Key, a.Val))
					}
				case "title", "aria-label", "placeholder":
					look(a.Key, a.Val)
				}
			}
			b.WriteString("\n")
		}
	}
	return b.String(), wrong
}

// TestHostileTextsHaveNoEffectOnAnyPage puts each text of the corpus into every
// place of every page where a text can stand: the page has the same elements and
// attributes as with a harmless one, leads nowhere else, and shows no character
// that drives a terminal or turns the direction.
func TestHostileTextsHaveNoEffectOnAnyPage(t *testing.T) {
	texts := hostile.Texts()
	if len(texts) < 500 {
		t.Fatalf("%d texts", len(texts))
	}
	for name := range views() {
		for _, yes := range []bool{true, false} {
			harmless := soiledPage(t, name, "harmless", yes)
			want, wrong := seen(harmless)
			if len(wrong) > 0 || strings.Count(harmless, "harmless") < least[name] {
				t.Fatalf("%s with a harmless text, which stands there %d times: %v", name, strings.Count(harmless, "harmless"), wrong)
			}
			for i, text := range texts {
				if !yes && i%5 != 0 { // the other side of each condition shows less
					continue
				}
				got, wrong := seen(soiledPage(t, name, text, yes))
				if len(wrong) > 0 {
					t.Errorf("%s with %.40q: %s", name, text, wrong[0])
				}
				if got != want {
					a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
					i := 0
					for i < min(len(a), len(b))-1 && a[i] == b[i] {
						i++
					}
					t.Errorf("%s with %.40q: %q where %q must be", name, text, a[i], b[i])
				}
				if t.Failed() {
					break
				}
			}
		}
	}
}

// TestAnEffectOnAPageIsSeen keeps seen honest.
func TestAnEffectOnAPageIsSeen(t *testing.T) {
	want, _ := seen(`<p class="a">x</p><a href="/jobs/1">y</a>`)
	for _, text := range []string{
		`<p class="a"><b>x</b></p><a href="/jobs/1">y</a>`, `<p class="a b">x</p><a href="/jobs/1">y</a>`, `<p class="a" onclick="x">x</p><a href="/jobs/1">y</a>`,
		`<p class="a">x</p><a href="javascript:x">y</a>`, `<p class="a">x</p><a href="//evil.example">y</a>`, `<p class="a">x<!-- --></p><a href="/jobs/1">y</a>`,
		"<p class=\"a\">\u202e</p><a href=\"/jobs/1\">y</a>", "<p class=\"a\">\x1b[2J</p><a href=\"/jobs/1\">y</a>",
	} {
		if got, wrong := seen(text); got == want && len(wrong) == 0 {
			t.Errorf("nothing is seen in %q", text)
		}
	}
}

// record puts a text wherever an event can hold one.
func record(play *history.Recorder, text string) {
	call := play.Invoke(history.Op{Actor: text, Op: text, Owner: text, Key: text, Job: text, Attempt: text})
	call.OK(200, text, text, history.Job{ID: text, Key: text, Status: text, Provider: text, Replica: text})
	play.Note(text, text, text, map[string]string{"text": text})
}

// TestHostileTextsAreTextInTheLiveLanes: what the script of the lanes is given is
// JSON whose texts are harmless already, as in the report.
func TestHostileTextsAreTextInTheLiveLanes(t *testing.T) {
	unsafe := regexp.MustCompile(`[\x00-\x08\x0b-\x1f\x7f\x{80}-\x{9f}\x{200b}-\x{200f}\x{202a}-\x{202e}\x{2066}-\x{2069}]`)
	for some := range slices.Chunk(hostile.Texts(), 100) {
		c, rec := watched(t)
		play := rec.Child("reverse-order")
		for _, text := range some {
			record(play, text)
		}
		flush(t, rec)
		c.runs.live.look()
		w := httptest.NewRecorder()
		c.serveLanes(w, httptest.NewRequest("GET", "/runs/lanes", nil))
		d, _, _ := lanesNow(t, c, -1)
		if kind := w.Header().Get("Content-Type"); kind != "application/json" || d.Data == nil || len(d.Data.Plays[0].Look) < len(some) {
			t.Fatalf("%s: %.200s", kind, w.Body)
		}
		for _, text := range d.Data.Texts {
			if unsafe.MatchString(text) {
				t.Errorf("a page gets %.80q", text)
			}
		}
	}
}
