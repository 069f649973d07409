// Package onig matches the regular expressions of tokenizer files the way the
// tokenizers library does: in the Ruby syntax of Oniguruma 6.9.10, with its
// classes of Unicode 16.0.
//
// The rule it keeps: a pattern that would be read differently here is refused
// when it is compiled. Not supported, since no tokenizer needs them: back
// references and calls, absent operators, conditionals, \X and \y, control
// characters, a look-behind without a limit, and foldings of one letter into
// several under (?i). Every search has a bound on its steps and memory, so a
// pattern that backtracks without end is an error and not a hang.
//
// Sources: doc/RE, doc/SYNTAX.md and doc/UNICODE_PROPERTIES of Oniguruma 6.9;
// the search loop of its Rust binding, which the tokenizers library uses.
package onig

import (
	"fmt"
	"sync"
	"unicode/utf8"
)

// Regexp is a compiled pattern. It is safe for use from many goroutines.
type Regexp struct {
	source  string
	program []instruction
	slots   int
}

// Compile reads pattern, a regular expression in Oniguruma's Ruby syntax.
func Compile(pattern string) (*Regexp, error) {
	n, err := parse(pattern)
	if err != nil {
		return nil, fmt.Errorf("pattern %q: %w", short(pattern), err)
	}
	program, slots, err := compile(n)
	if err != nil {
		return nil, fmt.Errorf("pattern %q: %w", short(pattern), err)
	}
	return &Regexp{source: pattern, program: program, slots: slots}, nil
}

// MustCompile is Compile for patterns that are part of the program.
func MustCompile(pattern string) *Regexp {
	re, err := Compile(pattern)
	if err != nil {
		panic(err)
	}
	return re
}

// String returns the pattern.
func (re *Regexp) String() string { return re.source }

// FindAll calls found for each match in text, from left to right, as byte
// offsets. Matches do not overlap; an empty match right behind another match
// is passed over. text must be valid UTF-8. It returns ErrTooHard where budget,
// or one of its own if that is nil, is used up.
func (re *Regexp) FindAll(text string, budget *Budget, found func(start, end int)) error {
	if budget == nil {
		budget = NewBudget(len(text))
	}
	m := machines.Get().(*machine)
	m.re, m.text, m.steps, m.failed = re, text, budget.steps, nil
	defer func() {
		budget.steps = m.steps
		m.release()
	}()
	if cap(m.slots) < re.slots {
		m.slots = make([]int, re.slots)
	}
	m.slots = m.slots[:re.slots]

	last := -1 // end of the last match
	for from := 0; from <= len(text); {
		start, end := m.search(from)
		if m.failed != nil {
			return m.failed
		}
		if start < 0 {
			return nil
		}
		if start == end && end == last {
			from += runeWidth(text, from)
			continue
		}
		found(start, end)
		from, last = end, end
	}
	return nil
}

// search returns the first match that starts at from or later, or -1.
func (m *machine) search(from int) (int, int) {
	m.start = from
	for pos := from; pos <= len(m.text); pos += runeWidth(m.text, pos) {
		m.keep = -1
		for i := range m.slots {
			m.slots[i] = -1
		}
		end := m.run(0, pos)
		if m.failed != nil {
			return -1, -1
		}
		if end >= 0 {
			if m.keep >= 0 {
				return m.keep, end
			}
			return pos, end
		}
	}
	return -1, -1
}

func (m *machine) release() {
	m.re, m.text = nil, ""
	if cap(m.stack) > 1<<14 {
		m.stack = nil
	}
	m.stack = m.stack[:0]
	machines.Put(m)
}

// runeWidth returns the bytes of the character at pos, 1 at the end.
func runeWidth(text string, pos int) int {
	if pos >= len(text) || text[pos] < utf8.RuneSelf {
		return 1
	}
	_, w := utf8.DecodeRuneInString(text[pos:])
	return w
}

var wordSet = sync.OnceValue(func() *Set { return newSet(properties()["word"]...) })

func short(pattern string) string {
	if len(pattern) <= 80 {
		return pattern
	}
	return pattern[:80] + "..."
}
