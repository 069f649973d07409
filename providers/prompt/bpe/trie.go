package bpe

// trie finds the longest of its words at each place of a text, from left to
// right and without overlap.
type trie struct {
	nodes []trieNode
	root  [256]int32 // the node after each first byte, 0 for none
}

type trieNode struct {
	keys []byte
	next []int32
	id   int // of the word that ends here, or -1
}

func newTrie() *trie { return &trie{nodes: []trieNode{{id: -1}}} }

// add adds word, unless it is empty or known: of two equal words the first counts.
func (t *trie) add(word string, id int) {
	if word == "" {
		return
	}
	at := t.root[word[0]]
	if at == 0 {
		at = t.grow()
		t.root[word[0]] = at
	}
	for i := 1; i < len(word); i++ {
		to := t.nodes[at].step(word[i])
		if to == 0 {
			to = t.grow()
			n := &t.nodes[at]
			n.keys, n.next = append(n.keys, word[i]), append(n.next, to)
		}
		at = to
	}
	if t.nodes[at].id < 0 {
		t.nodes[at].id = id
	}
}

func (t *trie) grow() int32 {
	t.nodes = append(t.nodes, trieNode{id: -1})
	return int32(len(t.nodes) - 1)
}

func (n *trieNode) step(key byte) int32 {
	for i, k := range n.keys {
		if k == key {
			return n.next[i]
		}
	}
	return 0
}

// find calls found for each word in text, until it returns false.
func (t *trie) find(text string, found func(start, end, id int) bool) {
	if len(t.nodes) == 1 {
		return
	}
	for i := 0; i < len(text); {
		at := t.root[text[i]]
		if at == 0 {
			i++
			continue
		}
		end, id := 0, -1
		for j := i + 1; at != 0; j++ {
			if t.nodes[at].id >= 0 {
				end, id = j, t.nodes[at].id
			}
			if j == len(text) {
				break
			}
			at = t.nodes[at].step(text[j])
		}
		if id < 0 {
			i++
			continue
		}
		if !found(i, end, id) {
			return
		}
		i = end
	}
}
