package builtin

import "github.com/interlock-harness/interlock/providers/prompt/jinja/internal/python"

// NewNamespace is the type namespace.
var NewNamespace = &python.Function{Kind: "type", Name: "jinja2.utils.Namespace", Body: func(t *python.Thread, _ python.Value, a python.Args) python.Value {
	return &Namespace{newDict(t, a)}
}}

// Namespace is an object whose attributes a template may set.
type Namespace struct{ attrs *python.Dict }

// Set sets one attribute.
func (n *Namespace) Set(name string, v python.Value) { n.attrs.Set(name, v) }

// Type is part of python.Object, as are Module, Attr and Repr.
func (n *Namespace) Type() string { return "Namespace" }

// Module is Jinja's utilities.
func (n *Namespace) Module() string { return "jinja2.utils" }

// Attr returns an attribute that was set.
func (n *Namespace) Attr(_ *python.Thread, name string) (python.Value, bool) {
	return n.attrs.Lookup(name)
}

// Closed says that a namespace has no other attributes, not even the usual
// ones with underscores.
func (n *Namespace) Closed() bool { return true }

// Wrapped shows the attributes.
func (n *Namespace) Wrapped() (before string, inner python.Value, after string) {
	return "<Namespace ", n.attrs, ">"
}

// Repr is Wrapped as text.
func (n *Namespace) Repr(t *python.Thread) string {
	return "<Namespace " + python.Repr(t, n.attrs) + ">"
}
