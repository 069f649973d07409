package httpapi_test

import (
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/interlock-harness/interlock/service/internal/httpapi"
)

func TestParseKeyTakesOneMeaning(t *testing.T) {
	for _, tc := range []struct {
		name  string
		lines []string
		key   string // empty: refused
	}{
		{"bare", []string{"abc"}, "abc"},
		{"quoted is the same key", []string{`"abc"`}, "abc"},
		{"case matters", []string{"ABC"}, "ABC"},
		{"trailing blanks are HTTP's", []string{"abc   "}, "abc"},
		{"quoted with a comma", []string{`"a, b"`}, "a, b"},
		{"escaped quote", []string{`"a\"b"`}, `a"b`},
		{"escaped backslash", []string{`"a\\b"`}, `a\b`},
		{"255 bytes", []string{strings.Repeat("k", 255)}, strings.Repeat("k", 255)},
		{"255 bytes after unescaping", []string{`"` + strings.Repeat(`\"`, 255) + `"`}, strings.Repeat(`"`, 255)},
		{"path-like", []string{"../../x"}, "../../x"},
		{"percent stays", []string{"%00"}, "%00"},
		{"markup", []string{"<script>"}, "<script>"},
		{"SQL needs quotes for its blanks", []string{`"'; DROP TABLE jobs;--"`}, "'; DROP TABLE jobs;--"},
		{"absent", nil, ""},
		{"empty", []string{""}, ""},
		{"blanks only", []string{"   "}, ""},
		{"empty quoted", []string{`""`}, ""},
		{"blanks quoted", []string{`"  "`}, ""},
		{"256 bytes", []string{strings.Repeat("k", 256)}, ""},
		{"256 bytes quoted", []string{`"` + strings.Repeat("k", 256) + `"`}, ""},
		{"two lines", []string{"a", "b"}, ""},
		{"two equal lines", []string{"a", "a"}, ""},
		{"merged lines", []string{"a, b"}, ""},
		{"blank inside, as a folded line gives", []string{"a b"}, ""},
		{"no closing quote", []string{`"abc`}, ""},
		{"no opening quote", []string{`abc"`}, ""},
		{"parameter", []string{`"a"; v=1`}, ""},
		{"escape of another letter", []string{`"a\nb"`}, ""},
		{"escape at the end", []string{`"a\`}, ""},
		{"tab", []string{"a\tb"}, ""},
		{"tab quoted", []string{"\"a\tb\""}, ""},
		{"DEL", []string{"a\x7f"}, ""},
		{"byte 0x80", []string{"\x80"}, ""},
		{"UTF-8", []string{"schlüssel"}, ""},
		{"UTF-8 quoted", []string{`"schlüssel"`}, ""},
		{"NUL quoted", []string{"\"a\x00\""}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			key, err := httpapi.ParseKey(tc.lines)
			if (err == nil) != (tc.key != "") || string(key) != tc.key {
				t.Fatalf("ParseKey(%q) = %q, %v; want %q", tc.lines, key, err, tc.key)
			}
		})
	}
}

// visible is the alphabet of keys.
var visible = &unicode.RangeTable{R16: []unicode.Range16{{Lo: ' ', Hi: '~', Stride: 1}}, LatinOffset: 1}

// quote writes a key as an RFC 8941 string.
func quote(key string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(key) + `"`
}

func TestParseKeyReadsBackEveryQuotedKey(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.StringOfN(rapid.RuneFrom(nil, visible), 1, 255, 255).Draw(t, "key")
		got, err := httpapi.ParseKey([]string{quote(want)})
		if strings.Trim(want, " ") == "" {
			if err == nil {
				t.Fatalf("blanks alone were taken: %q", want)
			}
			return
		}
		if err != nil || string(got) != want {
			t.Fatalf("ParseKey(%q) = %q, %v", quote(want), got, err)
		}
	})
}

func FuzzParseKey(f *testing.F) {
	for _, seed := range []string{"abc", `"abc"`, `"a, b"`, "a, b", `"a\"b"`, `"a\\b"`, `"abc`, `abc"`, `"a"; v=1`, "a\tb", "\x7f", "\x80",
		"schlüssel", "", " ", `""`, "../../x", "%00", "${jndi:x}", "<script>", `"'; DROP TABLE jobs;--"`, strings.Repeat("k", 256)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		key, err := httpapi.ParseKey([]string{line})
		if err != nil {
			if key != "" {
				t.Fatalf("a refused header gave the key %q", key)
			}
			return
		}
		if len(key) == 0 || len(key) > 255 || strings.Trim(string(key), " ") == "" {
			t.Fatalf("%q gave a key of %d bytes", line, len(key))
		}
		for i := range len(key) {
			if key[i] < ' ' || key[i] > '~' {
				t.Fatalf("%q gave the byte %#x", line, key[i])
			}
		}
		again, err := httpapi.ParseKey([]string{quote(string(key))})
		if err != nil || again != key {
			t.Fatalf("%q gave %q, whose quoted form gives %q, %v", line, key, again, err)
		}
	})
}
