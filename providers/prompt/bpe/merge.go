package bpe

import (
	"math"
	"sync"
)

// A word of up to shortWord symbols is merged by looking for the best pair
// again after each merge, a longer one with a heap: a file without a
// pre-tokenizer makes one word of a whole prompt, and there the first way
// would take quadratic time.
const shortWord = 24

// symbol is one token of a word while it is being merged, a link of a list.
type symbol struct{ id, prev, next int32 }

// gone marks a symbol that was merged into its left neighbour.
const gone = -1

// mergeShort merges ids in place and returns what is left of them.
func (t *pairTable) mergeShort(ids []int32) []int32 {
	var ranks, merged [shortWord]int32
	look := func(i int) {
		if rank, id, ok := t.get(ids[i], ids[i+1]); ok {
			ranks[i], merged[i] = rank, id
		} else {
			ranks[i] = math.MaxInt32
		}
	}
	for i := 0; i+1 < len(ids); i++ {
		look(i)
	}
	for {
		best, at := int32(math.MaxInt32), -1
		for i := 0; i+1 < len(ids); i++ {
			if ranks[i] < best {
				best, at = ranks[i], i
			}
		}
		if at < 0 {
			return ids
		}
		ids[at] = merged[at]
		n := len(ids) - 1
		copy(ids[at+1:], ids[at+2:])
		copy(ranks[at+1:n], ranks[at+2:n+1])
		copy(merged[at+1:n], merged[at+2:n+1])
		ids = ids[:n]
		if at > 0 {
			look(at - 1)
		}
		if at+1 < n {
			look(at)
		}
	}
}

// longWord is the memory that merging a long word needs.
type longWord struct {
	symbols []symbol
	heap    mergeHeap
}

var longWords = sync.Pool{New: func() any { return new(longWord) }}

// mergeLong merges ids in place and returns what is left of them.
func (t *pairTable) mergeLong(ids []int32) []int32 {
	w := longWords.Get().(*longWord)
	defer w.release()
	w.symbols, w.heap = w.symbols[:0], w.heap[:0]
	for i, id := range ids {
		w.symbols = append(w.symbols, symbol{id, int32(i - 1), int32(i + 1)})
		if i > 0 {
			if rank, _, ok := t.get(ids[i-1], id); ok {
				w.heap = append(w.heap, candidate(rank, int32(i-1)))
			}
		}
	}
	w.symbols[len(ids)-1].next = gone
	w.heap.order()

	for len(w.heap) > 0 {
		rank, at := w.heap.pop()
		left := &w.symbols[at]
		if left.id == gone || left.next == gone {
			continue
		}
		right := &w.symbols[left.next]
		now, id, ok := t.get(left.id, right.id)
		if !ok || now != rank { // one of the two was merged with another since
			continue
		}
		left.id, left.next, right.id = id, right.next, gone
		if left.next != gone {
			next := &w.symbols[left.next]
			next.prev = at
			if rank, _, ok := t.get(id, next.id); ok {
				w.heap.push(candidate(rank, at))
			}
		}
		if left.prev != gone {
			if rank, _, ok := t.get(w.symbols[left.prev].id, id); ok {
				w.heap.push(candidate(rank, left.prev))
			}
		}
	}
	ids = ids[:0]
	for i := int32(0); i != gone; i = w.symbols[i].next {
		ids = append(ids, w.symbols[i].id)
	}
	return ids
}

// release keeps the memory for the next word, unless there is much of it.
func (w *longWord) release() {
	if cap(w.symbols) <= 1<<16 {
		longWords.Put(w)
	}
}
