package onig

import (
	"errors"
	"math/bits"
	"sync"
	"unicode/utf8"
)

// ErrTooHard is a text on which a pattern does not come to an answer within
// its bounds on steps and memory: the pattern backtracks without end.
var ErrTooHard = errors.New("the patterns take too many steps on this text")

// maxFrames bounds the memory of one search: ways back kept at one time.
const maxFrames = 1 << 20

// Budget is how many steps the searches that share it may still take. It is
// for one goroutine.
type Budget struct{ steps int }

// NewBudget returns the budget for a text of so many bytes, however it is cut
// into pieces. Patterns of tokenizers need 5 to 30 steps a byte.
func NewBudget(bytes int) *Budget { return &Budget{steps: 1<<23 + bytes<<8} }

// Write takes off what it costs to write so many bytes of new text: eight
// steps each. It returns ErrTooHard where nothing is left.
func (b *Budget) Write(bytes int) error {
	if b == nil {
		return nil
	}
	if b.steps -= bytes << 3; b.steps < 0 {
		return ErrTooHard
	}
	return nil
}

// frame is a way back: what to do when the way taken fails.
type frame struct {
	kind frameKind
	pc   int32
	pos  int
	low  int    // backDown: the least end; backSlot: the value to restore; backUp: times left
	mask uint64 // backBranch: branches still to try
}

type frameKind uint8

const (
	backTo     frameKind = iota // go on at pc, pos
	backBranch                  // try the next branch in mask
	backDown                    // give back one character of a greedy loop
	backUp                      // take one more character of a lazy loop
	backSlot                    // restore a slot
	backKeep                    // restore the start of the match
)

// machine runs a program over one text.
type machine struct {
	re     *Regexp
	text   string
	start  int // of this search, for \G
	keep   int // start of the match as \K sets it, or -1
	steps  int
	stack  []frame
	slots  []int
	failed error
}

var machines = sync.Pool{New: func() any { return new(machine) }}

// run executes the program at pc from pos and returns the end of the match, or
// -1. The frames it leaves are dropped.
func (m *machine) run(pc int32, pos int) int {
	base := len(m.stack)
	for {
		if m.steps--; m.steps < 0 || len(m.stack) > maxFrames {
			m.failed = ErrTooHard
			m.stack = m.stack[:base]
			return -1
		}
		in := &m.re.program[pc]
		ok := true
		switch in.do {
		case doMatch:
			m.stack = m.stack[:base]
			return pos
		case doSet:
			if w := m.width(in.set, pos); w > 0 {
				pos += w
			} else {
				ok = false
			}
		case doLoop:
			pos, ok = m.loop(in, pc, pos)
		case doSplit:
			m.push(frame{kind: backTo, pc: in.other, pos: pos})
		case doJump:
		case doBranch:
			if mask := m.possible(in.branches, pos); mask != 0 {
				pc = m.branch(in.branches, pc, pos, mask)
				continue
			}
			ok = false
		case doAssert:
			ok = m.holds(in.assert, pos) != in.negative
		case doLook:
			ok = m.look(in, pos) != in.negative
		case doAtomic:
			if end := m.run(in.other, pos); end >= 0 {
				pos = end
			} else {
				ok = false
			}
		case doRepeatBegin:
			m.push(frame{kind: backSlot, pc: in.slot, low: m.slots[in.slot]})
			m.slots[in.slot] = pos
		case doRepeatEnd:
			if m.slots[in.slot] == pos {
				pc = in.other
				continue
			}
		case doKeep:
			m.push(frame{kind: backKeep, low: m.keep})
			m.keep = pos
		}
		if m.failed != nil {
			m.stack = m.stack[:base]
			return -1
		}
		if ok {
			pc = in.next
			continue
		}
		if pc, pos, ok = m.back(base); !ok {
			return -1
		}
	}
}

func (m *machine) push(f frame) { m.stack = append(m.stack, f) }

// back takes the newest way back above base.
func (m *machine) back(base int) (int32, int, bool) {
	for len(m.stack) > base {
		top := &m.stack[len(m.stack)-1]
		switch f := *top; f.kind {
		case backTo:
			m.stack = m.stack[:len(m.stack)-1]
			return f.pc, f.pos, true
		case backBranch:
			m.stack = m.stack[:len(m.stack)-1]
			return m.branch(m.re.program[f.pc].branches, f.pc, f.pos, f.mask), f.pos, true
		case backDown:
			_, w := utf8.DecodeLastRuneInString(m.text[f.low:f.pos])
			if top.pos -= w; top.pos == f.low {
				m.stack = m.stack[:len(m.stack)-1]
			}
			return m.re.program[f.pc].next, f.pos - w, true
		case backUp:
			in := &m.re.program[f.pc]
			w := m.width(in.set, f.pos)
			if top.pos, top.low = f.pos+w, f.low-1; w == 0 || top.low == 0 {
				m.stack = m.stack[:len(m.stack)-1]
			}
			if w > 0 {
				return in.next, f.pos + w, true
			}
		case backSlot:
			m.slots[f.pc] = f.low
			m.stack = m.stack[:len(m.stack)-1]
		case backKeep:
			m.keep = f.low
			m.stack = m.stack[:len(m.stack)-1]
		}
	}
	return 0, 0, false
}

// width returns the bytes of the character at pos, or 0 where it is not in set.
func (m *machine) width(set *Set, pos int) int {
	if pos >= len(m.text) {
		return 0
	}
	if b := m.text[pos]; b < utf8.RuneSelf {
		if set.ascii[b>>6]&(1<<(b&63)) != 0 {
			return 1
		}
		return 0
	}
	r, w := utf8.DecodeRuneInString(m.text[pos:])
	if set.Contains(r) {
		return w
	}
	return 0
}

// loop takes characters of the set at pos as in says.
func (m *machine) loop(in *instruction, pc int32, pos int) (int, bool) {
	low, n := pos, int32(0)
	most := in.max
	if in.mode == lazy {
		most = in.min
	}
	for n != most {
		w := m.width(in.set, pos)
		if w == 0 {
			break
		}
		pos += w
		if n++; n == in.min {
			low = pos
		}
	}
	m.steps -= int(n)
	if n < in.min {
		return pos, false
	}
	switch {
	case in.mode == lazy && in.max != in.min:
		m.push(frame{kind: backUp, pc: pc, pos: pos, low: int(in.max - in.min)})
	case in.mode == greedy && pos > low:
		m.push(frame{kind: backDown, pc: pc, pos: pos, low: low})
	}
	return pos, true
}

func (m *machine) possible(b *branches, pos int) uint64 {
	if pos >= len(m.text) {
		return b.atEnd
	}
	if c := m.text[pos]; c < utf8.RuneSelf {
		return b.ascii[c]
	}
	return b.nonASCII
}

// branch returns the program of the first branch in mask and keeps the others
// as a way back.
func (m *machine) branch(b *branches, pc int32, pos int, mask uint64) int32 {
	first := bits.TrailingZeros64(mask)
	if rest := mask & (mask - 1); rest != 0 {
		m.push(frame{kind: backBranch, pc: pc, pos: pos, mask: rest})
	}
	return b.starts[first]
}
