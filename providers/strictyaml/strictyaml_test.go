package strictyaml_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/providers/strictyaml"
)

type rule struct {
	ID   string `yaml:"id"`
	Expr string `yaml:"expr"`
}

type file struct {
	Name   string            `yaml:"name"`
	Count  int               `yaml:"count"`
	On     bool              `yaml:"enabled"`
	Delta  json.Number       `yaml:"delta"`
	Life   time.Duration     `yaml:"life"`
	Most   *int64            `json:"most,omitempty"`
	Rules  []rule            `yaml:"rules"`
	Labels map[string]string `yaml:"labels"`
	Free   any               `yaml:"free"`
	Raw    json.RawMessage   `yaml:"raw"`
}

func TestDecodeReadsPlainFiles(t *testing.T) {
	in := "name: invoice\r\ncount: 12\nenabled: true\ndelta: 0.030\nlife: 336h\nmost: 5\nrules:\n  - id: business.total\n    expr: \"a == b\"\n" +
		"labels: {a: 'no', version: 1.0.0}\nfree:\n  - 9007199254740993\n  - null\n  - |\n    മലയാളം \u200d\n  - {x: \"010\", y: text here}\nraw: [1.0, true]"
	var got file
	if err := strictyaml.Decode("f.yaml", []byte(in), &got); err != nil {
		t.Fatal(err)
	}
	five := int64(5)
	want := file{
		Name: "invoice", Count: 12, On: true, Delta: "0.030", Life: 336 * time.Hour, Most: &five,
		Rules:  []rule{{"business.total", "a == b"}},
		Labels: map[string]string{"a": "no", "version": "1.0.0"},
		Free:   []any{json.Number("9007199254740993"), nil, "മലയാളം \u200d\n", map[string]any{"x": "010", "y": "text here"}},
		Raw:    json.RawMessage(`[1.0,true]`),
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %#v\nwant %#v", got, want)
	}
	if remarks := strictyaml.Remarks([]byte(in)); len(remarks) != 2 {
		t.Errorf("remarks %v", remarks)
	}
}

func TestDecodeRefusesWithFileAndLine(t *testing.T) {
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for i := 'b'; i <= 'i'; i++ {
		bomb += string(i) + ": &" + string(i) + " [" + strings.TrimSuffix(strings.Repeat("*"+string(i-1)+",", 9), ",") + "]\n"
	}
	tests := []struct{ name, in, want string }{
		{"alias bomb", bomb, "f.yaml:1: anchor &a"},
		{"anchor", "name: &x y\n", "f.yaml:1: anchor &x"},
		{"alias", "name: a\nfree: [*x]\n", "unknown anchor"},
		{"duplicate key", "name: a\ncount: 1\nname: b\n", `f.yaml:3: key "name" stands here and in line 1`},
		{"duplicate key below", "free:\n  a: 1\n  a: 1\n", `f.yaml:3: key "a"`},
		{"misspelt field", "rules:\n  - id: x\n    exprs: y\n", `f.yaml:3: unknown field "exprs": did you mean expr?`},
		{"unknown field", "zzzzzzzz: 1\n", "f.yaml:1: unknown field \"zzzzzzzz\"; there are count,"},
		{"second document", "name: a\n---\nname: b\n", "f.yaml:2: a second document"},
		{"empty", "", "f.yaml: the file is empty"},
		{"comment only", "# nothing\n", "f.yaml: the file is empty"},
		{"no", "name: no\n", "f.yaml:1: name: no is a truth value for some readers: quote it"},
		{"on", "labels:\n  a: on\n", "f.yaml:2: a: on is a truth value"},
		{"octal", "name: 010\n", "quote it"},
		{"sexagesimal", "name: 12:30\n", "f.yaml:1: name: 12:30 is a number to base 60"},
		{"underscore", "name: 1_000\n", "quote it"},
		{"nan", "free: .nan\n", "no finite number"},
		{"date", "free:\n- 2026-01-01\n", "f.yaml:2: the value: 2026-01-01 is a date"},
		{"tilde", "free: ~\n", "quote it"},
		{"capital null", "free: NULL\n", "quote it"},
		{"hex", "free: 0x10\n", "quote it"},
		{"number as text", "name: 12\n", "f.yaml:1: name must be a text, and 12 is none: quote it"},
		{"truth as text", "name: true\n", "quote it"},
		{"nothing", "name:\n", "f.yaml:1: name has no value"},
		{"ambiguous key", "labels: {no: a}\n", "f.yaml:1: key no is a truth value"},
		{"binary", "name: !!binary aGVsbG8=\n", "f.yaml:1: tag !!binary"},
		{"str tag", "name: !!str 12\n", "f.yaml:1: tag !!str"},
		{"python", "free: !!python/object:os.system x\n", "f.yaml:1: tag"},
		{"custom tag", "free: !mine x\n", "f.yaml:1: tag !mine"},
		{"merge", "free:\n  <<: {a: 1}\n", "f.yaml:2: merge key <<"},
		{"tab", "rules:\n\t- id: x\n", "tabs"},
		{"byte order mark", "\xef\xbb\xbfname: a\n", "f.yaml:1: the file begins with a byte order mark"},
		{"deep", "free: " + strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001) + "\n", "exceeded max depth"},
		{"a little too deep", "free: " + strings.Repeat("[", 64) + strings.Repeat("]", 64) + "\n", "nested deeper than 64"},
		{"large", "name: " + strings.Repeat("x", 2<<20), "more than 1048576 bytes"},
		{"invalid UTF-8", "name: a\ncount: \xff\n", "f.yaml:2: byte 0xff is not UTF-8"},
		{"bidirectional override", "name: a\u202eb\n", "f.yaml:1: U+202E"},
		{"zero-width space in a key", "labels:\n  a\u200bb: c\n", "f.yaml:2: key holds the invisible character U+200B"},
		{"control character", "name: \"a\x1bb\"\n", "U+001B"},
		{"list for text", "name: [a]\n", "f.yaml:1: name must be a text, not a list"},
		{"text for list", "rules: a\n", "f.yaml:1: rules must be a list, not a"},
		{"text for number", "count: '1'\n", `f.yaml:1: count must be a whole number, not the text "1"`},
		{"fraction for count", "count: 1.5\n", "f.yaml:1: count must be a whole number"},
		{"word for truth", "enabled: yes\n", "f.yaml:1: enabled must be true or false, not yes"},
		{"duration", "life: 14d\n", "f.yaml:1: life must be a duration such as 30s, not 14d"},
		{"unclosed", "free: [1, 2\n", "f.yaml"},
		{"key is a list", "? [a]\n: b\n", "a key must be a plain word"},
		{"not a map", "- a\n", "f.yaml:1: the file must be a map, not a list"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			begin := time.Now()
			err := strictyaml.Decode("f.yaml", []byte(tt.in), &file{})
			var e *strictyaml.Error
			if !errors.As(err, &e) || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") || len(err.Error()) > 300 {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			if took := time.Since(begin); took > time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

func TestHiddenNamesTheCharacter(t *testing.T) {
	if r, ok := strictyaml.Hidden("a\u200bb"); !ok || r != 0x200b {
		t.Errorf("%U %v", r, ok)
	}
	if _, ok := strictyaml.Hidden("invoice-1"); ok {
		t.Error("plain id has a hidden character")
	}
}

func FuzzDecodeNeverPanics(f *testing.F) {
	f.Add([]byte("name: a\nrules: [{id: x}]\n"))
	f.Add([]byte("free: &a [*a]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var v file
		_ = strictyaml.Decode("f", data, &v)
		_, _ = strictyaml.Value("f", data)
	})
}
