package bpe

import (
	"fmt"

	"github.com/interlock-harness/interlock/providers/prompt/onig"
)

// behavior is what a split does with what it finds (SplitDelimiterBehavior).
// Splitting a-b--c at each hyphen gives:
//
//	Removed             a b c
//	Isolated            a - b - - c
//	MergedWithPrevious  a- b- - c
//	MergedWithNext      a -b - -c
//	Contiguous          a - b -- c
type behavior string

func (b behavior) check() error {
	switch b {
	case "Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous":
		return nil
	}
	return fmt.Errorf("the split behavior %q is not known", string(b))
}

// section is a stretch of a text that was found, or one between two of those.
type section struct {
	start, end int
	found      bool
}

// sections covers p with what find finds in it and what lies between.
func sections(p piece, find finder) ([]section, error) {
	var all []section
	last := 0
	err := find(p.text, p.budget, func(start, end int) {
		if start != last {
			all = append(all, section{last, start, false})
		}
		all = append(all, section{start, end, true})
		last = end
	})
	if last != len(p.text) {
		all = append(all, section{last, len(p.text), false})
	}
	return all, err
}

// cutter splits a piece and hands on the parts that are not empty.
type cutter struct {
	find     finder
	behavior behavior
	invert   bool // what lies between counts as found
}

func (c cutter) split(p piece, emit func(piece) error) error {
	if !c.invert && c.behavior == "Isolated" || c.invert && c.behavior == "Removed" {
		return c.stream(p, emit)
	}
	all, err := sections(p, c.find)
	if err != nil {
		return err
	}
	if c.invert {
		for i := range all {
			all[i].found = !all[i].found
		}
	}
	for _, s := range c.arrange(all) {
		if s.end > s.start && !(c.behavior == "Removed" && s.found) {
			if err := emit(p.cut(s.start, s.end)); err != nil {
				return err
			}
		}
	}
	return nil
}

// stream is the common case: every match is a part, and what lies between is
// one too, or dropped.
func (c cutter) stream(p piece, emit func(piece) error) error {
	last := 0
	var failed error
	part := func(start, end int) {
		if end > start && failed == nil {
			failed = emit(p.cut(start, end))
		}
	}
	err := c.find(p.text, p.budget, func(start, end int) {
		if !c.invert {
			part(last, start)
		}
		part(start, end)
		last = end
	})
	if err == nil && !c.invert {
		part(last, len(p.text))
	}
	if err == nil {
		err = failed
	}
	return err
}

// arrange joins sections as the behavior wants.
func (c cutter) arrange(all []section) []section {
	var out []section
	previous := false
	switch c.behavior {
	case "Contiguous", "MergedWithPrevious":
		for _, s := range all {
			join := s.found == previous
			if c.behavior == "MergedWithPrevious" {
				join = s.found && !previous
			}
			if join && len(out) > 0 {
				out[len(out)-1].end = s.end
			} else {
				out = append(out, s)
			}
			previous = s.found
		}
	case "MergedWithNext":
		for i := len(all) - 1; i >= 0; i-- {
			if s := all[i]; s.found && !previous && len(out) > 0 {
				out[len(out)-1].start = s.start
			} else {
				out = append(out, s)
			}
			previous = all[i].found
		}
		for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
			out[i], out[j] = out[j], out[i]
		}
	default:
		return all
	}
	return out
}

// runes finds each character that is in the class, one at a time.
func runes(class func(rune) bool) finder {
	return func(text string, _ *onig.Budget, found func(start, end int)) error {
		for i, r := range text {
			if class(r) {
				found(i, i+len(string(r)))
			}
		}
		return nil
	}
}
