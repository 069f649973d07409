package jinja

import (
	"github.com/interlock-harness/interlock/providers/prompt/jinja/internal/python"
	"github.com/interlock-harness/interlock/providers/prompt/jinja/internal/syntax"
)

// blockCode is a compiled {% block %}: a function that knows the context only,
// not the variables around it.
type blockCode struct {
	fn    *function
	enter func(*activation)
	body  stmt
	self  int // slots, -1 when not read
	super int
}

// findBlocks registers every named block of a template.
func (c *compiler) findBlocks(body []syntax.Stmt) []*syntax.Block {
	var all []*syntax.Block
	for _, s := range body {
		eachStatement(s, func(s syntax.Stmt) {
			b, ok := s.(*syntax.Block)
			if !ok {
				return
			}
			if c.blocks[b.Name] != nil {
				assertion(b.Line(), "block '%s' defined twice", b.Name)
			}
			c.blocks[b.Name] = &blockCode{self: -1, super: -1}
			all = append(all, b)
		})
	}
	return all
}

// compileBlock compiles a named block by itself.
func (c *compiler) compileBlock(n *syntax.Block) {
	code := c.blocks[n.Name]
	fn := newFunction(nil)
	f := frame{scope: newScope(nil, fn), fn: fn, indent: 1}
	read := readsUndeclared(n.Body, "self", "super")
	special := func(name string) int {
		f.scope.parameter(name)
		return fn.slot(f.scope, name)
	}
	if read["self"] {
		code.self = special("self")
	}
	if read["super"] {
		code.super = special("super")
	}
	f.scope.collect(n.Body)
	code.fn, code.enter, code.body = fn, f.enter(), c.body(n.Body, f)
}

// run renders the block in ctx into out.
func (b *blockCode) run(t *python.Thread, ctx *context, out *python.Buffer, name string) {
	t.Enter(blockFrames)
	defer t.Leave(blockFrames)
	a := b.fn.start(nil, t, ctx)
	a.out = out
	if b.self >= 0 {
		a.slots[b.self] = &templateObject{ctx}
	}
	if b.super >= 0 {
		a.slots[b.super] = &python.Undefined{Hint: "there is no parent block called '" + name + "'.", Name: "super", Class: python.UndefinedError}
	}
	b.enter(a)
	b.body(a)
}

// block renders a named block where it stands.
func (c *compiler) block(n *syntax.Block, f frame) stmt {
	code, name, required, scoped := c.blocks[n.Name], n.Name, n.Required, n.Scoped
	visible := map[string]place{}
	if scoped {
		for s := f.scope; s != nil; s = s.parent {
			for stored := range s.stores {
				if _, ok := visible[stored]; !ok {
					visible[stored] = f.place(stored)
				}
			}
		}
	}
	return func(a *activation) signal {
		a.t.Step()
		if required {
			python.Raise(python.TemplateRuntimeError, "Required block '%s' not found", name)
		}
		ctx := a.ctx
		if scoped {
			ctx = &context{outer: a.ctx, locals: map[string]python.Value{}, set: map[string]python.Value{}, blocks: a.ctx.blocks}
			for name, p := range visible {
				if v := p.get(a); python.Given(v) {
					ctx.locals[name] = v
				}
			}
		}
		code.run(a.t, ctx, a.out, name)
		return goOn
	}
}

// templateObject is the name self: its items are the named blocks.
type templateObject struct{ ctx *context }

// Type is part of python.Object, as are Module, Attr and Repr.
func (s *templateObject) Type() string { return "TemplateReference" }

// Module is Jinja's runtime.
func (s *templateObject) Module() string { return "jinja2.runtime" }

// Repr shows that the template has no name.
func (s *templateObject) Repr(*python.Thread) string { return "<TemplateReference None>" }

// Attr knows nothing: blocks are items.
func (s *templateObject) Attr(*python.Thread, string) (python.Value, bool) { return nil, false }

// Index returns the block called key.
func (s *templateObject) Index(_ *python.Thread, key python.Value) (python.Value, bool) {
	name, _ := python.Text(key)
	code, ok := s.ctx.blocks[name]
	if !ok {
		return nil, false
	}
	return &blockObject{name, code, s.ctx}, true
}

// blockObject is self.name: calling it renders the block.
type blockObject struct {
	name string
	code *blockCode
	ctx  *context
}

// Type is part of python.Object, as are Module, Attr and Repr.
func (b *blockObject) Type() string { return "BlockReference" }

// Module is Jinja's runtime.
func (b *blockObject) Module() string { return "jinja2.runtime" }

// Repr would be Python's default, with an address.
func (b *blockObject) Repr(*python.Thread) string {
	return python.Address("block")
}

// Attr returns the block's name and its parent, which does not exist.
func (b *blockObject) Attr(_ *python.Thread, name string) (python.Value, bool) {
	switch name {
	case "name":
		return b.name, true
	case "super":
		return &python.Undefined{Hint: "there is no parent block called '" + b.name + "'.", Name: "super", Class: python.UndefinedError}, true
	}
	return nil, false
}

// Call renders the block and returns its text.
func (b *blockObject) Call(t *python.Thread, a python.Args) python.Value {
	a.Plain("BlockReference.__call__", 0, 0)
	out := python.NewBuffer(t)
	b.code.run(t, b.ctx, out, b.name)
	if t.Autoescape {
		return python.Markup(out.Joined())
	}
	return out.Joined()
}
