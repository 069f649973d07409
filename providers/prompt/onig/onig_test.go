package onig_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/providers/prompt/onig"
)

// cut returns text cut at every match, and the matches that are not empty.
func cut(t *testing.T, re *onig.Regexp, text string) (isolated, found []string) {
	t.Helper()
	isolated, found = []string{}, []string{}
	last := 0
	err := re.FindAll(text, nil, func(start, end int) {
		if start > last {
			isolated = append(isolated, text[last:start])
		}
		if end > start {
			isolated, found = append(isolated, text[start:end]), append(found, text[start:end])
		}
		last = end
	})
	if err != nil {
		t.Fatalf("%s on %q: %v", re, text, err)
	}
	if last < len(text) {
		isolated = append(isolated, text[last:])
	}
	return isolated, found
}

func TestMatchesAreThoseOfTheLibrary(t *testing.T) {
	file, err := os.Open("testdata/matches.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	cases, refused := 0, 0
	lines := bufio.NewScanner(unzipped)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var golden struct {
			Re    string
			Err   bool
			Cases []struct {
				S               string
				Isolated, Found []string
			}
		}
		if err := json.Unmarshal(lines.Bytes(), &golden); err != nil {
			t.Fatal(err)
		}
		re, err := onig.Compile(golden.Re)
		if golden.Err {
			continue // the library refuses it: no tokenizer with it can exist
		}
		if err != nil {
			refused++
			continue
		}
		for _, c := range golden.Cases {
			cases++
			isolated, found := cut(t, re, c.S)
			if !reflect.DeepEqual(isolated, c.Isolated) || !reflect.DeepEqual(found, c.Found) {
				t.Errorf("%s on %q:\n cuts %q\n want %q\n found %q\n want  %q", golden.Re, c.S, isolated, c.Isolated, found, c.Found)
			}
		}
	}
	if cases < 2000 || refused > 100 {
		t.Errorf("%d cases compared and %d patterns refused: the goldens do not test much", cases, refused)
	}
}

func TestPatternsThatWouldBeReadDifferentlyAreRefused(t *testing.T) {
	for _, pattern := range []string{
		`(a)\1`, `\k<n>`, `\g<n>`, `(?~ab)`, `(?(1)a|b)`, `\X`, `\y`, `(?i:strasse)`, `(?i)ß`, `(?i)[ß]`, `(?:a?){2}`, `(?<=a+)b`, `\M-x`, `\cA`,
		`(?s:.)`, `(?a:\w)`, `(`, `)`, `[`, `[]`, `[a`, `[b-a]`, `*`, `a|*`, `\`, `\p{`, `\p{Nothing}`, `\p{posixword}`, `[[:nothing:]]`, `a{3,1}`, `a{100001}`,
		"\xff", strings.Repeat("(", 300) + strings.Repeat(")", 300), strings.Repeat("a", 1<<17), `(?:(?:(?:ab){1000}){1000}){1000}`, `\xff`, `\x{110000}`, `\ud800`,
	} {
		if _, err := onig.Compile(pattern); err == nil {
			t.Errorf("%.40q compiles", pattern)
		}
	}
}

func TestEndlessBacktrackingIsAnErrorSoon(t *testing.T) {
	for _, pattern := range []string{`(?:a|a)*b`, `(a+)+b`, `(?:a|aa)+$x`, `(?:(?:a*)*)*b`} {
		re, err := onig.Compile(pattern)
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		err = re.FindAll(strings.Repeat("a", 4000), nil, func(int, int) {})
		if !errors.Is(err, onig.ErrTooHard) {
			t.Errorf("%s: %v, want ErrTooHard", pattern, err)
		}
		if took := time.Since(begin); took > 20*time.Second {
			t.Errorf("%s took %v", pattern, took)
		}
	}
}

func TestEmptyMatchesBehindAMatchArePassedOver(t *testing.T) {
	var got [][2]int
	if err := onig.MustCompile(`x*`).FindAll("axxb", nil, func(start, end int) { got = append(got, [2]int{start, end}) }); err != nil {
		t.Fatal(err)
	}
	if want := [][2]int{{0, 0}, {1, 3}, {4, 4}}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestPropertiesAreOfUnicode16(t *testing.T) {
	for _, c := range []struct {
		name string
		r    rune
		want bool
	}{
		{"L", 'é', true}, {"Lu", 'é', false}, {"letter", 'a', true}, {"Uppercase Letter", 'A', true}, {"Lo", 0x16EC0, false},
		{"Lu", 0x10D50, true},                       // Garay, new in 16.0
		{"L", 0x2EBF0, true}, {"Cn", 0x16EA0, true}, // new in 15.1 and in 17.0
		{"Han", '漢', true}, {"Hani", 'あ', false}, // by both names
		{"N", '②', true}, {"Nd", '②', false}, {"Nd", '٣', true}, {"P", '_', true}, {"S", '+', true}, {"punct", '+', false}, {"word", '½', true},
		{"White_Space", 0x85, true}, {"Emoji", '😀', true}, {"C", 0xD800, true}, {"Any", 0x10FFFF, true},
	} {
		set, err := onig.Property(c.name)
		if err != nil {
			t.Fatal(err)
		}
		if set.Contains(c.r) != c.want {
			t.Errorf("%s holds U+%04X: %v, want %v", c.name, c.r, !c.want, c.want)
		}
	}
	if set, _ := onig.Property("Assigned"); !set.Contains('a') {
		t.Error("nothing is assigned")
	}
}
