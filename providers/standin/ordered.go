package standin

import (
	"bytes"
	"encoding/json"
	"strings"
)

// node is a JSON value whose members keep their order and whose numbers keep
// their spelling, so that a fault can change one thing and nothing else.
type node struct {
	kind    byte // { [ " n (number) or x (true, false, null)
	text    string
	members []member
}

type member struct {
	name  string
	value *node
}

func parseNode(text string) (*node, bool) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	n, err := readNode(d)
	return n, err == nil
}

func readNode(d *json.Decoder) (*node, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t := t.(type) {
	case json.Delim:
		n := &node{kind: byte(t)}
		for d.More() {
			m := member{}
			if t == '{' {
				key, err := d.Token()
				if err != nil {
					return nil, err
				}
				m.name = key.(string)
			}
			if m.value, err = readNode(d); err != nil {
				return nil, err
			}
			n.members = append(n.members, m)
		}
		_, err := d.Token()
		return n, err
	case string:
		return &node{kind: '"', text: t}, nil
	case json.Number:
		return &node{kind: 'n', text: t.String()}, nil
	case bool:
		return &node{kind: 'x', text: map[bool]string{true: "true", false: "false"}[t]}, nil
	}
	return &node{kind: 'x', text: "null"}, nil
}

func (n *node) String() string {
	var b bytes.Buffer
	n.write(&b)
	return b.String()
}

func (n *node) write(b *bytes.Buffer) {
	switch n.kind {
	case '{', '[':
		b.WriteByte(n.kind)
		for i, m := range n.members {
			if i > 0 {
				b.WriteByte(',')
			}
			if n.kind == '{' {
				b.WriteString(quoted(m.name))
				b.WriteByte(':')
			}
			m.value.write(b)
		}
		b.WriteByte(n.kind + 2) // the closing bracket
	case '"':
		b.WriteString(quoted(n.text))
	default:
		b.WriteString(n.text)
	}
}

func quoted(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string cannot fail
	return strings.TrimSuffix(b.String(), "\n")
}

// each visits a value and all below it, outermost first, until f returns false.
func (n *node) each(f func(name string, n *node) bool) bool { return n.visit("", f) }

func (n *node) visit(name string, f func(string, *node) bool) bool {
	if !f(name, n) {
		return false
	}
	for _, m := range n.members {
		if !m.value.visit(m.name, f) {
			return false
		}
	}
	return true
}

// first finds the first value of a kind, at the top level before deeper ones.
func (n *node) first(kind byte) *node {
	for _, m := range n.members {
		if m.value.kind == kind {
			return m.value
		}
	}
	var found *node
	n.each(func(_ string, v *node) bool {
		if v != n && v.kind == kind {
			found = v
		}
		return found == nil
	})
	return found
}
