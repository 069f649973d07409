package onig

// firsts returns the characters a match of n can start with, and whether it
// can be empty. Too many is right, too few is not.
func firsts(n *node) (spans []span, empty bool) {
	switch n.op {
	case opSet:
		return n.set.ranges, false
	case opConcat:
		for _, sub := range n.subs {
			first, subEmpty := firsts(sub)
			spans = append(spans, first...)
			if !subEmpty {
				return merge(spans), false
			}
		}
		return merge(spans), true
	case opAlternate:
		for _, sub := range n.subs {
			first, subEmpty := firsts(sub)
			spans, empty = append(spans, first...), empty || subEmpty
		}
		return merge(spans), empty
	case opRepeat:
		first, subEmpty := firsts(n.subs[0])
		return first, subEmpty || n.min == 0
	case opAtomic:
		return firsts(n.subs[0])
	}
	return nil, true
}

// length returns the least and most characters a match of n has; most is -1
// where there is no limit.
func length(n *node) (least, most int) {
	switch n.op {
	case opSet:
		return 1, 1
	case opConcat:
		for _, sub := range n.subs {
			low, high := length(sub)
			least, most = least+low, add(most, high)
		}
		return least, most
	case opAlternate:
		least, most = length(n.subs[0])
		for _, sub := range n.subs[1:] {
			low, high := length(sub)
			least = min(least, low)
			if high < 0 || most < 0 {
				most = -1
			} else {
				most = max(most, high)
			}
		}
		return least, most
	case opRepeat:
		low, high := length(n.subs[0])
		least = low * n.min
		if high == 0 {
			return least, 0
		}
		if high < 0 || n.max < 0 {
			return least, -1
		}
		return least, min(high*n.max, 1<<20)
	case opAtomic:
		return length(n.subs[0])
	}
	return 0, 0
}

func add(a, b int) int {
	if a < 0 || b < 0 {
		return -1
	}
	return min(a+b, 1<<20)
}
