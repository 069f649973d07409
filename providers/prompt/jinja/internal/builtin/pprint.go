package builtin

import (
	"regexp"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/interlock-harness/interlock/providers/prompt/jinja/internal/python"
)

// pprint is pprint.pformat: the repr with sorted keys, over several lines when
// it is wider than 80 characters. Source: Python's Library Reference, "pprint".
func pprint(t *python.Thread, v python.Value, a python.Args) python.Value {
	a.Bind("do_pprint", 0)
	p := &prettyPrinter{t: t, b: python.NewBuffer(t)}
	p.format(v, 0, 0, 0)
	return p.b.String()
}

const prettyWidth = 80

type prettyPrinter struct {
	t *python.Thread
	b *python.Buffer
}

// format writes v, which starts at column indent and is followed by allowance
// characters on its last line.
func (p *prettyPrinter) format(v python.Value, indent, allowance, level int) {
	p.t.Enter(2)
	defer p.t.Leave(2)
	rep := p.repr(v)
	if utf8.RuneCountInString(rep) <= prettyWidth-indent-allowance {
		p.b.WriteString(rep)
		return
	}
	switch x := v.(type) {
	case *python.Dict:
		p.b.WriteString("{")
		p.dict(x, indent, allowance+1, level+1)
		p.b.WriteString("}")
	case *python.List:
		p.b.WriteString("[")
		p.items(x.Items, indent, allowance+1, level+1)
		p.b.WriteString("]")
	case *python.Tuple:
		if x.Fields != nil {
			p.b.WriteString(rep)
			return
		}
		end := ")"
		if len(x.Items) == 1 {
			end = ",)"
		}
		p.b.WriteString("(")
		p.items(x.Items, indent, allowance+len(end), level+1)
		p.b.WriteString(end)
	case string:
		p.text(x, indent, allowance, level+1)
	default:
		p.b.WriteString(rep)
	}
}

// sorted returns a copy of v whose dicts, at every depth, have sorted keys.
func (p *prettyPrinter) sorted(v python.Value) python.Value {
	p.t.Enter(1)
	defer p.t.Leave(1)
	p.t.Step()
	switch x := v.(type) {
	case *python.Dict:
		d := python.NewDict()
		for _, i := range p.order(x) {
			k, value := x.At(i)
			d.Set(p.sorted(k), p.sorted(value))
		}
		return d
	case *python.List:
		return &python.List{Items: p.sortedAll(x.Items)}
	case *python.Tuple:
		return &python.Tuple{Items: p.sortedAll(x.Items)}
	}
	return v
}

func (p *prettyPrinter) sortedAll(items []python.Value) []python.Value {
	all := make([]python.Value, len(items))
	for i, item := range items {
		all[i] = p.sorted(item)
	}
	return all
}

func (p *prettyPrinter) repr(v python.Value) string { return python.Repr(p.t, p.sorted(v)) }

// order returns the places of the keys in sorted order; keys that cannot be
// compared are sorted by their type.
func (p *prettyPrinter) order(d *python.Dict) []int {
	places := make([]int, d.Len())
	for i := range places {
		places[i] = i
	}
	sort.SliceStable(places, func(i, j int) bool {
		a, _ := d.At(places[i])
		b, _ := d.At(places[j])
		less := false
		err := python.Catch(func() { less = python.Compare(p.t, python.Less, a, b) })
		if err != nil && err.Class != python.TypeError {
			panic(err)
		}
		if err != nil {
			return python.TypeName(a) < python.TypeName(b)
		}
		return less
	})
	return places
}

func (p *prettyPrinter) dict(d *python.Dict, indent, allowance, level int) {
	indent++
	places := p.order(d)
	for n, i := range places {
		key, value := d.At(i)
		rep := p.repr(key)
		p.b.WriteString(rep + ": ")
		last := n == len(places)-1
		p.format(value, indent+utf8.RuneCountInString(rep)+2, after(last, allowance), level)
		if !last {
			p.b.WriteString(",\n")
			p.b.Pad(" ", indent)
		}
	}
}

func (p *prettyPrinter) items(items []python.Value, indent, allowance, level int) {
	indent++
	for i, item := range items {
		if i > 0 {
			p.b.WriteString(",\n")
			p.b.Pad(" ", indent)
		}
		p.format(item, indent, after(i == len(items)-1, allowance), level)
	}
}

// after is what follows an item: a comma, or what follows the whole.
func after(last bool, allowance int) int {
	if last {
		return allowance
	}
	return 1
}

// wordsAndSpaces matches a word with the white space behind it.
var wordsAndSpaces = regexp.MustCompile(`[^\s\x0b\x{85}\x{a0}\x{2000}-\x{200a}\x{2028}\x{2029}\x{3000}]*[\s\x0b\x{85}\x{a0}\x{2000}-\x{200a}\x{2028}\x{2029}\x{3000}]*`)

// text writes a long str as several literals that Python joins.
func (p *prettyPrinter) text(s string, indent, allowance, level int) {
	lines := python.SplitLines(s, true)
	if level == 1 {
		indent++
		allowance++
	}
	width := func(s string) int { return utf8.RuneCountInString(python.Repr(p.t, s)) }
	var chunks []string
	room := prettyWidth - indent
	lineRoom := room
	for i, line := range lines {
		lastLine := i == len(lines)-1
		if lastLine {
			lineRoom -= allowance
		}
		if width(line) <= lineRoom {
			chunks = append(chunks, python.Repr(p.t, line))
			continue
		}
		var parts []string
		for _, part := range wordsAndSpaces.FindAllString(line, -1) {
			if part != "" {
				parts = append(parts, part)
			}
		}
		current, partRoom := "", room
		for j, part := range parts {
			p.t.Step()
			if j == len(parts)-1 && lastLine {
				partRoom -= allowance
			}
			if width(current+part) > partRoom {
				if current != "" {
					chunks = append(chunks, python.Repr(p.t, current))
				}
				current = part
			} else {
				current += part
			}
		}
		if current != "" {
			chunks = append(chunks, python.Repr(p.t, current))
		}
	}
	if len(chunks) > 1 && level == 1 {
		p.b.WriteString("(")
		defer p.b.WriteString(")")
	}
	p.b.WriteString(strings.Join(chunks, "\n"+strings.Repeat(" ", indent)))
}
