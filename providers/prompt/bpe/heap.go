package bpe

// mergeHeap is a heap of candidates, lowest rank first and, of one rank,
// leftmost first. Both stand in one number, so that they compare as one; four
// children a node keep a word of a megabyte shallow.
type mergeHeap []uint64

// candidate is the merge of rank at symbol at with the symbol after it.
func candidate(rank, at int32) uint64 { return uint64(uint32(rank))<<32 | uint64(uint32(at)) }

// order makes a heap of candidates in any order.
func (h mergeHeap) order() {
	for i := (len(h) - 2) / 4; i >= 0 && len(h) > 1; i-- {
		h.down(i)
	}
}

func (h *mergeHeap) push(c uint64) {
	*h = append(*h, c)
	s := *h
	i := len(s) - 1
	for i > 0 {
		parent := (i - 1) / 4
		if s[parent] <= c {
			break
		}
		s[i] = s[parent]
		i = parent
	}
	s[i] = c
}

func (h *mergeHeap) pop() (rank, at int32) {
	s := *h
	top := s[0]
	last := len(s) - 1
	s[0] = s[last]
	*h = s[:last]
	if last > 1 {
		h.down(0)
	}
	return int32(top >> 32), int32(uint32(top))
}

func (h mergeHeap) down(i int) {
	c := h[i]
	for {
		first := 4*i + 1
		if first >= len(h) {
			break
		}
		least := first
		for j := first + 1; j < min(first+4, len(h)); j++ {
			if h[j] < h[least] {
				least = j
			}
		}
		if h[least] >= c {
			break
		}
		h[i] = h[least]
		i = least
	}
	h[i] = c
}
