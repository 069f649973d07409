package render

import (
	"fmt"
	"slices"
	"strconv"
)

// Difference is one conversation on which a server and our engines do not agree.
type Difference struct {
	Conversation int    `json:"conversation"` // its index
	What         string `json:"what"`         // "text", "ids", or "refusal"
	Detail       string `json:"detail"`
}

// Compare renders and tokenizes each conversation here and at the server, and
// returns where they differ. A refusal on both sides is no difference.
func Compare(s *Subject, server Tokenizing, conversations []Conversation) []Difference {
	var all []Difference
	for i, c := range conversations {
		differs := func(what, format string, args ...any) {
			all = append(all, Difference{i, what, fmt.Sprintf(format, args...)})
		}
		ours, errOurs := s.Route.Render(c)
		theirs, errTheirs := server.Render(c)
		if errOurs != nil || errTheirs != nil {
			if (errOurs == nil) != (errTheirs == nil) {
				differs("refusal", "here: %v, at the server: %v", errOurs, errTheirs)
			}
			continue
		}
		if at := firstDifference(ours, theirs); at >= 0 {
			differs("text", "at byte %d: here %.40q, at the server %.40q", at, ours[at:], theirs[at:])
		}
		idsOurs, errOurs := s.Tokenize(c)
		idsTheirs, errTheirs := server.IDs(c)
		if errOurs != nil || errTheirs != nil || !slices.Equal(idsOurs, idsTheirs) {
			differs("ids", "%s here, %s at the server", count(idsOurs, errOurs), count(idsTheirs, errTheirs))
		}
	}
	return all
}

// count is how many ids there are, or why there are none.
func count(ids []int, err error) string {
	if err != nil {
		return fmt.Sprintf("none (%v)", err)
	}
	return strconv.Itoa(len(ids))
}

// firstDifference returns the first byte in which a and b differ, or -1.
func firstDifference(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	if len(a) == len(b) {
		return -1
	}
	return n
}
