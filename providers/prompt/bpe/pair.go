package bpe

import "math/bits"

// merge says that left and right, side by side, become id. Of all merges that
// a word allows, the one of lowest rank comes first.
type merge struct {
	left, right int32
	rank, id    int32
}

// pairTable finds the merge of two tokens: a hash table with open addressing,
// 16 bytes a place and at most half full. Vocabularies hold half a million
// merges, and this look-up is where most of the time of a long word goes.
type pairTable struct {
	places []place
	shift  uint
}

type place struct {
	pair     uint64 // left<<32 | right, noPair where the place is free
	rank, id int32
}

const noPair = ^uint64(0)

// newPairTable builds the table. Of two merges of one pair the later counts.
func newPairTable(merges []merge) *pairTable {
	size := max(bits.Len(uint(2*len(merges))), 3)
	t := &pairTable{places: make([]place, 1<<size), shift: uint(64 - size)}
	for i := range t.places {
		t.places[i].pair = noPair
	}
	for _, m := range merges {
		p := &t.places[t.find(pairOf(m.left, m.right))]
		*p = place{pairOf(m.left, m.right), m.rank, m.id}
	}
	return t
}

func pairOf(left, right int32) uint64 { return uint64(uint32(left))<<32 | uint64(uint32(right)) }

// find returns where pair is, or the free place where it would be.
func (t *pairTable) find(pair uint64) int {
	i := int((pair * 0x9E3779B97F4A7C15) >> t.shift)
	for t.places[i].pair != pair && t.places[i].pair != noPair {
		if i++; i == len(t.places) {
			i = 0
		}
	}
	return i
}

// get returns the rank and the token of the merge of left and right.
func (t *pairTable) get(left, right int32) (rank, id int32, ok bool) {
	pair := pairOf(left, right)
	p := &t.places[t.find(pair)]
	return p.rank, p.id, p.pair == pair
}
