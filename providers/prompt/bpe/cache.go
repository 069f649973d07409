package bpe

import (
	"hash/maphash"
	"strings"
	"sync/atomic"
)

// cache remembers the tokens of short words. Each word has one place; a new
// word takes the place over. It needs no lock, and at most a few megabytes.
type cache struct {
	places [cachePlaces]atomic.Pointer[cached]
}

type cached struct {
	word string
	ids  []int32
}

const (
	cachePlaces = 1 << 13
	cacheWord   = 64 // bytes of the longest word that is remembered
)

var cacheSeed = maphash.MakeSeed()

func (c *cache) get(word string) ([]int32, bool) {
	if len(word) > cacheWord {
		return nil, false
	}
	if p := c.place(word).Load(); p != nil && p.word == word {
		return p.ids, true
	}
	return nil, false
}

func (c *cache) put(word string, ids []int32) {
	if len(word) <= cacheWord {
		c.place(word).Store(&cached{word: strings.Clone(word), ids: ids})
	}
}

func (c *cache) place(word string) *atomic.Pointer[cached] {
	return &c.places[maphash.String(cacheSeed, word)%cachePlaces]
}
