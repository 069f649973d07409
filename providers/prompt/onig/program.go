package onig

import (
	"errors"
	"math"
)

// instruction is one step of a compiled pattern.
type instruction struct {
	do       code
	set      *Set // doSet, doLoop
	next     int32
	other    int32 // doSplit, doRepeatEnd: the way taken second, or out
	min, max int32 // doLoop: times, max -1 unbounded; doLook behind: characters
	slot     int32 // doRepeatBegin, doRepeatEnd
	mode     mode  // doLoop
	negative bool  // doLook, doAssert
	behind   bool  // doLook
	assert   op    // doAssert
	branches *branches
}

type code uint8

const (
	doMatch       code = iota
	doSet              // one character of set
	doLoop             // as many characters of set as allowed
	doSplit            // next, and other where that fails
	doJump             // next
	doBranch           // the branches that can start with the character here, in order
	doAssert           // a position
	doLook             // the program at other matches here (or ends here), without moving
	doAtomic           // the program at other, once; its ways back are forgotten
	doRepeatBegin      // remember where an iteration starts
	doRepeatEnd        // leave the loop where the iteration was empty
	doKeep             // the match starts here
)

// branches is the alternation at one point. For each first byte it holds a bit
// set of the branches that are worth a try: most patterns of tokenizers are
// one long alternation, tried at every character.
type branches struct {
	starts   []int32
	ascii    [128]uint64
	nonASCII uint64 // where the next character is not ASCII
	atEnd    uint64 // where no character follows
}

// maxProgram bounds the instructions of a pattern.
const maxProgram = 20_000

type compiler struct {
	code  []instruction
	slots int32
}

var errTooLarge = errors.New("the pattern is too large once its repetitions are written out")

// compile lays n out as a program that ends with doMatch.
func compile(n *node) ([]instruction, int, error) {
	c := &compiler{}
	if err := c.emit(n); err != nil {
		return nil, 0, err
	}
	c.add(instruction{do: doMatch})
	return c.code, int(c.slots), nil
}

// add appends i, which goes on to the instruction after it.
func (c *compiler) add(i instruction) int32 {
	at := int32(len(c.code))
	if i.next == 0 {
		i.next = at + 1
	}
	c.code = append(c.code, i)
	return at
}

func (c *compiler) here() int32 { return int32(len(c.code)) }

func (c *compiler) emit(n *node) error {
	if len(c.code) > maxProgram {
		return errTooLarge
	}
	switch n.op {
	case opEmpty:
	case opSet:
		c.add(instruction{do: doSet, set: n.set})
	case opConcat:
		for _, sub := range n.subs {
			if err := c.emit(sub); err != nil {
				return err
			}
		}
	case opAlternate:
		return c.alternate(n.subs)
	case opRepeat:
		return c.repeat(n)
	case opAtomic:
		_, err := c.sub(instruction{do: doAtomic}, n.subs[0])
		return err
	case opLook:
		return c.look(n)
	case opKeep:
		c.add(instruction{do: doKeep})
	default:
		c.add(instruction{do: doAssert, assert: n.op, negative: n.negative})
	}
	return nil
}

// sub emits i with n as a program of its own right behind it.
func (c *compiler) sub(i instruction, n *node) (int32, error) {
	at := c.add(i)
	c.code[at].other = c.here()
	if err := c.emit(n); err != nil {
		return at, err
	}
	c.add(instruction{do: doMatch})
	c.code[at].next = c.here()
	return at, nil
}

func (c *compiler) look(n *node) error {
	i := instruction{do: doLook, negative: n.negative, behind: n.behind}
	if n.behind {
		low, high := length(n.subs[0])
		if high < 0 || high > 255 {
			return errors.New("a look-behind without a limit is not supported")
		}
		i.min, i.max = int32(low), int32(high)
		// the text is cut where the look-behind ends, so its match ends there
		body := &node{op: opConcat, subs: []*node{n.subs[0], {op: opTextEnd}}}
		_, err := c.sub(i, body)
		return err
	}
	_, err := c.sub(i, n.subs[0])
	return err
}

func (c *compiler) alternate(subs []*node) error {
	if len(subs) > 64 { // more than the bit set holds: in two halves
		half := len(subs) / 2
		left, right := &node{op: opAlternate, subs: subs[:half]}, &node{op: opAlternate, subs: subs[half:]}
		return c.alternate([]*node{left, right})
	}
	b := &branches{starts: make([]int32, len(subs))}
	c.add(instruction{do: doBranch, branches: b})
	var jumps []int32
	for i, sub := range subs {
		b.starts[i] = c.here()
		b.allow(i, sub)
		if err := c.emit(sub); err != nil {
			return err
		}
		jumps = append(jumps, c.add(instruction{do: doJump}))
	}
	for _, j := range jumps {
		c.code[j].next = c.here()
	}
	return nil
}

func (b *branches) allow(i int, sub *node) {
	bit := uint64(1) << i
	first, empty := firsts(sub)
	for r := rune(0); r < 128; r++ {
		if empty || has(first, r) {
			b.ascii[r] |= bit
		}
	}
	if empty || len(first) > 0 && first[len(first)-1].hi >= 0x80 {
		b.nonASCII |= bit
	}
	if empty {
		b.atEnd |= bit
	}
}

func (c *compiler) repeat(n *node) error {
	body := n.subs[0]
	if body.op == opSet {
		c.add(instruction{do: doLoop, set: body.set, min: int32(n.min), max: int32(min(n.max, math.MaxInt32)), mode: n.mode})
		return nil
	}
	if n.mode == possessive {
		plain := *n
		plain.mode = greedy
		_, err := c.sub(instruction{do: doAtomic}, &plain)
		return err
	}
	if _, empty := firsts(body); empty && (n.min > 1 || n.max > 1) {
		// Oniguruma ends such a loop at the first empty iteration or not,
		// depending on how it lays out the program.
		return errors.New("a counted repetition of a group that may be empty is not supported")
	}
	for range n.min {
		if err := c.emit(body); err != nil {
			return err
		}
	}
	if n.max < 0 {
		return c.star(body, n.mode)
	}
	var outs []int32
	for range n.max - n.min {
		outs = append(outs, c.add(instruction{do: doSplit}))
		if err := c.emit(body); err != nil {
			return err
		}
	}
	for _, at := range outs {
		c.choose(at, at+1, c.here(), n.mode)
	}
	return nil
}

// star emits body any number of times. An iteration that moves nowhere ends
// the loop, so that (a*)* comes to an end.
func (c *compiler) star(body *node, m mode) error {
	split := c.add(instruction{do: doSplit})
	_, empty := firsts(body)
	slot := c.slots
	if empty {
		c.slots++
		c.add(instruction{do: doRepeatBegin, slot: slot})
	}
	if err := c.emit(body); err != nil {
		return err
	}
	end := int32(-1)
	if empty {
		end = c.add(instruction{do: doRepeatEnd, slot: slot})
	}
	c.add(instruction{do: doJump, next: split})
	if split == 0 { // add reads 0 as "the next one"
		c.code[len(c.code)-1].next = 0
	}
	c.choose(split, split+1, c.here(), m)
	if end >= 0 {
		c.code[end].other = c.here()
	}
	return nil
}

// choose lets the split at try in before out, or the other way round if lazy.
func (c *compiler) choose(at, in, out int32, m mode) {
	if m == lazy {
		in, out = out, in
	}
	c.code[at].next, c.code[at].other = in, out
}
