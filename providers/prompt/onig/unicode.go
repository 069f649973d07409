package onig

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// unicode.txt holds the general categories, some binary properties and the
// scripts of Unicode 16.0 as Oniguruma 6.9.10 has them. Go's own tables are of
// another version, and a character that one table calls a letter and another
// does not ends up in another token.
//
//go:embed unicode.txt
var unicodeText string

var properties = sync.OnceValue(func() map[string][]span {
	table := map[string][]span{}
	for _, line := range strings.Split(unicodeText, "\n") {
		names, list, ok := strings.Cut(line, ": ")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		var spans []span
		for _, field := range strings.Fields(list) {
			lo, hi, isRange := strings.Cut(field, "-")
			if !isRange {
				hi = lo
			}
			spans = append(spans, span{hexRune(lo), hexRune(hi)})
		}
		for _, name := range strings.Split(names, "=") {
			table[fold(name)] = spans
		}
	}
	unite := func(names string, of ...string) {
		var all []span
		for _, n := range of {
			all = append(all, table[fold(n)]...)
		}
		for _, n := range strings.Fields(names) {
			table[fold(n)] = merge(all)
		}
	}
	unite("L Letter", "Lu", "Ll", "Lt", "Lm", "Lo")
	unite("LC Cased_Letter", "Lu", "Ll", "Lt")
	unite("M Mark Combining_Mark", "Mn", "Mc", "Me")
	unite("N Number", "Nd", "Nl", "No")
	unite("P Punctuation", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po")
	unite("S Symbol", "Sm", "Sc", "Sk", "So")
	unite("Z Separator", "Zs", "Zl", "Zp")
	table["cs"], table["surrogate"] = []span{{0xD800, 0xDFFF}}, []span{{0xD800, 0xDFFF}}
	unite("Assigned", "L", "M", "N", "P", "S", "Z", "Cc", "Cf", "Cs", "Co")
	table["cn"] = invert(table["assigned"])
	table["unassigned"] = table["cn"]
	unite("C Other", "Cc", "Cf", "Cs", "Co", "Cn")
	table["any"] = []span{{0, maxRune}}
	for alias, name := range map[string]string{"digit": "nd", "cntrl": "cc", "qaai": "inherited", "qaac": "coptic"} {
		table[alias] = table[name]
	}
	posix(table, unite)
	return table
})

// posix adds the bracket classes, under [:name:] where \p{name} is another set.
// Oniguruma's \w and its [:word:] differ by the superscripts and fractions of
// Latin-1, and both differ from UTS #18 by the two joiners.
func posix(table map[string][]span, unite func(string, ...string)) {
	table["xdigit"] = []span{{'0', '9'}, {'A', 'F'}, {'a', 'f'}}
	table["ascii"] = []span{{0, 0x7F}}
	table["space"], table["punct"] = table["whitespace"], table["p"]
	table["alpha"], table["upper"], table["lower"] = table["alphabetic"], table["uppercase"], table["lowercase"]
	unite("alnum", "alpha", "Nd")
	unite("posixpunct [:punct:]", "P", "S")
	unite("[:word:]", "alpha", "M", "Nd", "Pc")
	table["word"] = merge(append([]span{{0xB2, 0xB3}, {0xB9, 0xB9}, {0xBC, 0xBE}}, table["[:word:]"]...))
	table["blank"] = merge(append([]span{{'\t', '\t'}}, table["zs"]...))
	unite("graph", "space", "Cc", "Cs", "Cn")
	table["graph"] = invert(table["graph"])
	unite("print", "graph", "Zs")
}

// property returns the code points that \p{name} stands for. Case, spaces,
// hyphens and underscores of a name do not count.
func property(name string) ([]span, error) {
	if spans, ok := properties()[fold(name)]; ok && name[0] != '[' {
		return spans, nil
	}
	return nil, fmt.Errorf("the character property %q is not known", name)
}

// bracket returns the code points of [:name:].
func bracket(name string) ([]span, error) {
	switch name {
	case "punct", "word":
		name = "[:" + name + ":]"
	case "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "space", "upper", "xdigit":
	default:
		return nil, fmt.Errorf("the bracket class [:%s:] is not known", name)
	}
	return properties()[name], nil
}

// Property returns the set that \p{name} stands for, or a bracket class if name
// is written [:name:], for callers that need the same Unicode version outside a
// pattern.
func Property(name string) (*Set, error) {
	of := property
	if inner, ok := strings.CutPrefix(name, "[:"); ok {
		name, of = strings.TrimSuffix(inner, ":]"), bracket
	}
	spans, err := of(name)
	if err != nil {
		return nil, err
	}
	return newSet(spans...), nil
}

func fold(name string) string {
	return strings.ToLower(strings.NewReplacer(" ", "", "_", "", "-", "").Replace(name))
}

func hexRune(s string) rune {
	n, err := strconv.ParseUint(s, 16, 32)
	if err != nil || n > maxRune {
		panic("onig: unicode.txt: bad code point " + s)
	}
	return rune(n)
}
