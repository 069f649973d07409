package standin

import (
	"fmt"
	"slices"
	"strings"
)

// BadProvider returns a seeded bad provider by name: one fault of the good
// stand-in. Which check must reject it stands in fixtures/bad.
func BadProvider(name string) (*Fault, error) {
	for _, f := range allFaults() {
		if f.Name == name {
			return &f, nil
		}
	}
	return nil, fmt.Errorf("no bad provider %q", name)
}

// BadProviders lists the names of all of them, sorted.
func BadProviders() []string {
	var names []string
	for _, f := range allFaults() {
		names = append(names, f.Name)
	}
	slices.Sort(names)
	return names
}

func allFaults() []Fault {
	return slices.Concat(wireFaults, endFaults, outputFaults, toolFaults, promptFaults)
}

// edit changes the output of an answer, text and arguments alike, as a value.
func edit(f func(*node)) func(Ask, *Message) {
	return rewrite(func(text string) string {
		n, ok := parseNode(text)
		if !ok {
			return text
		}
		f(n)
		return n.String()
	})
}

// rewrite changes the output of an answer as text.
func rewrite(f func(string) string) func(Ask, *Message) {
	return func(_ Ask, m *Message) {
		if m.Text != "" {
			m.Text = f(m.Text)
		}
		for i := range m.Calls {
			m.Calls[i].Arguments = f(m.Calls[i].Arguments)
		}
	}
}

// inText changes the text of an answer only.
func inText(f func(string) string) func(Ask, *Message) {
	return func(_ Ask, m *Message) {
		if m.Text != "" {
			m.Text = f(m.Text)
		}
	}
}

// pick finds a value by what its name ends with, else the first of a kind.
func pick(n *node, suffix string, kind byte) *node {
	var found *node
	n.each(func(name string, v *node) bool {
		if strings.HasSuffix(name, suffix) && v.kind == kind {
			found = v
		}
		return found == nil
	})
	if found == nil {
		found = n.first(kind)
	}
	if found == nil { // an answer without such a value: spoil a copy
		return &node{kind: kind}
	}
	return found
}
