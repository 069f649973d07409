package onig

import "unicode/utf8"

// holds reports whether the position has the property that a names.
func (m *machine) holds(a op, pos int) bool {
	switch a {
	case opTextBegin:
		return pos == 0
	case opTextEnd:
		return pos == len(m.text)
	case opTextEndOrLine:
		return pos == len(m.text) || pos == len(m.text)-1 && m.text[pos] == '\n'
	case opSearchBegin:
		return pos == m.start
	case opLineBegin: // an empty last line has no beginning of its own
		return pos == 0 || m.text[pos-1] == '\n' && pos < len(m.text)
	case opLineEnd:
		return pos == len(m.text) || m.text[pos] == '\n'
	}
	return m.word(pos) != m.wordBefore(pos) // opWordBoundary
}

func (m *machine) word(pos int) bool {
	r, w := utf8.DecodeRuneInString(m.text[pos:])
	return w > 0 && wordSet().Contains(r)
}

func (m *machine) wordBefore(pos int) bool {
	r, w := utf8.DecodeLastRuneInString(m.text[:pos])
	return w > 0 && wordSet().Contains(r)
}

// look reports whether the program of in matches at pos, or ends at pos if it
// looks behind. Slots and \K inside a look-around do not outlive it.
func (m *machine) look(in *instruction, pos int) bool {
	keep := m.keep
	defer func() { m.keep = keep }()
	if !in.behind {
		return m.run(in.other, pos) >= 0
	}
	start := pos
	for n := int32(0); n <= in.max; n++ {
		if n >= in.min && m.endsAt(in.other, start, pos) {
			return true
		}
		if start == 0 {
			return false
		}
		_, w := utf8.DecodeLastRuneInString(m.text[:start])
		start -= w
	}
	return false
}

// endsAt reports whether the program matches from start to exactly end, where
// the text is cut for it.
func (m *machine) endsAt(pc int32, start, end int) bool {
	whole := m.text
	m.text = whole[:end]
	defer func() { m.text = whole }()
	return m.run(pc, start) >= 0
}
