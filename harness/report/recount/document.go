package recount

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// all returns the elements below n of that name, and with that class where one is
// given, for which keep holds.
func all(n *html.Node, name, class string, keep func(*html.Node) bool) []*html.Node {
	var list []*html.Node
	if n == nil {
		return nil
	}
	for c := range n.Descendants() {
		if c.Type == html.ElementNode && c.Data == name && (class == "" || hasClass(c, class)) && (keep == nil || keep(c)) {
			list = append(list, c)
		}
	}
	return list
}

// first is the first of all, or nil.
func first(n *html.Node, name string) *html.Node { return pick(n, name, "") }

// pick is the first element with a class or an id, or nil.
func pick(n *html.Node, name, mark string) *html.Node {
	for _, c := range all(n, name, "", nil) {
		if mark == "" || hasClass(c, mark) || attr(c, "id") == mark {
			return c
		}
	}
	return nil
}

// inside reports whether an element stands in one of that name and class.
func inside(name, class string) func(*html.Node) bool {
	return func(n *html.Node) bool {
		for p := range n.Ancestors() {
			if p.Data == name && hasClass(p, class) {
				return true
			}
		}
		return false
	}
}

// previous is the nearest element of that name before n on its level or above.
func previous(n *html.Node, name string) *html.Node {
	for ; n != nil; n = n.Parent {
		for s := n.PrevSibling; s != nil; s = s.PrevSibling {
			if s.Data == name {
				return s
			}
		}
	}
	return nil
}

func hasClass(n *html.Node, class string) bool {
	return slices.Contains(strings.Fields(attr(n, "class")), class)
}

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// text is what an element says, with single spaces.
func text(n *html.Node) string {
	if n == nil {
		return ""
	}
	var b strings.Builder
	for c := range n.Descendants() {
		if c.Type == html.TextNode {
			b.WriteString(c.Data + " ")
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}
