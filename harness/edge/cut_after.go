package edge

// CutAfter passes n chunks of each connection and cuts it when the next one
// arrives, without passing any of that one. A small HTTP answer is one chunk, so
// CutAfter(Down, 1) lets one call on a kept connection through and loses the
// answer of the second.
func CutAfter(s Stream, n int) Toxic {
	return Toxic{Type: hookType, Stream: s, pipe: func(l *link) {
		passed := 0
		l.pass(func(data []byte) ([]byte, bool) {
			if passed == n {
				return nil, false
			}
			passed++
			return data, true
		})
	}}
}
