package onig

import (
	"slices"
	"sort"
)

// Set is a set of code points, kept as sorted inclusive ranges. It answers
// Contains in constant time once seal has laid its table.
type Set struct {
	ranges []span
	ascii  [2]uint64
	blocks []uint16    // of 256 code points each, up to tableEnd: index into pages
	pages  [][4]uint64 // one bit per code point; page 0 is empty, page 1 full
}

// span is an inclusive range of code points.
type span struct{ lo, hi rune }

const (
	maxRune  = 0x10FFFF
	tableEnd = 0x30000 // planes 0 to 2 go through the table, the rest by binary search
)

// newSet returns the sealed set of spans, which may overlap and be unsorted.
func newSet(spans ...span) *Set {
	s := &Set{ranges: merge(spans)}
	s.seal()
	return s
}

// Contains reports whether r is in the set.
func (s *Set) Contains(r rune) bool {
	switch {
	case r < 0x80:
		return r >= 0 && s.ascii[r>>6]&(1<<(r&63)) != 0
	case r < tableEnd && s.blocks != nil:
		return s.pages[s.blocks[r>>8]][(r>>6)&3]&(1<<(r&63)) != 0
	}
	return s.search(r)
}

func (s *Set) search(r rune) bool {
	i := sort.Search(len(s.ranges), func(i int) bool { return s.ranges[i].hi >= r })
	return i < len(s.ranges) && s.ranges[i].lo <= r
}

// seal lays the table that Contains reads. Only blocks that are neither empty
// nor full need a page of their own, so a set costs a few kilobytes.
func (s *Set) seal() {
	for r := rune(0); r < 0x80; r++ {
		if s.search(r) {
			s.ascii[r>>6] |= 1 << (r & 63)
		}
	}
	if len(s.ranges) == 0 || s.ranges[len(s.ranges)-1].hi < 0x80 {
		s.blocks, s.pages = make([]uint16, tableEnd>>8), [][4]uint64{{}}
		return
	}
	full := [4]uint64{^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)}
	s.blocks, s.pages = make([]uint16, tableEnd>>8), [][4]uint64{{}, full}
	for _, g := range s.ranges {
		for r := g.lo; r <= g.hi && r < tableEnd; {
			b := r >> 8
			end := min(g.hi, b<<8|0xFF)
			if end-r == 0xFF {
				s.blocks[b] = 1
			} else {
				if s.blocks[b] == 0 {
					s.blocks[b] = uint16(len(s.pages))
					s.pages = append(s.pages, [4]uint64{})
				}
				page := &s.pages[s.blocks[b]]
				for c := r; c <= end; c++ {
					page[(c>>6)&3] |= 1 << (c & 63)
				}
			}
			r = end + 1
		}
	}
}

// merge returns spans sorted, with overlapping and touching ones joined.
func merge(spans []span) []span {
	spans = slices.Clone(spans)
	slices.SortFunc(spans, func(a, b span) int { return int(a.lo) - int(b.lo) })
	var out []span
	for _, s := range spans {
		if s.lo > s.hi {
			continue
		}
		if n := len(out); n > 0 && s.lo <= out[n-1].hi+1 {
			out[n-1].hi = max(out[n-1].hi, s.hi)
			continue
		}
		out = append(out, s)
	}
	return out
}

// invert returns every code point that is not in spans, which are merged.
func invert(spans []span) []span {
	var out []span
	next := rune(0)
	for _, s := range spans {
		if s.lo > next {
			out = append(out, span{next, s.lo - 1})
		}
		next = s.hi + 1
	}
	if next <= maxRune {
		out = append(out, span{next, maxRune})
	}
	return out
}

// intersect returns the code points in both a and b, which are merged.
func intersect(a, b []span) []span {
	var out []span
	for i, j := 0, 0; i < len(a) && j < len(b); {
		if lo, hi := max(a[i].lo, b[j].lo), min(a[i].hi, b[j].hi); lo <= hi {
			out = append(out, span{lo, hi})
		}
		if a[i].hi < b[j].hi {
			i++
		} else {
			j++
		}
	}
	return out
}

// has reports whether r is in the merged spans.
func has(spans []span, r rune) bool {
	i := sort.Search(len(spans), func(i int) bool { return spans[i].hi >= r })
	return i < len(spans) && spans[i].lo <= r
}
