// Package jinja renders chat templates: Jinja2 in the one configuration that
// the transformers library and the servers that follow it use.
//
// It is strict. A template gives the text that Jinja 3.1 on CPython 3.11 gives,
// or the exception of the same class; it never renders where Jinja refuses, so
// that a rendered prompt can be proof of what a model sees. The configuration:
// ImmutableSandboxedEnvironment with trim_blocks and lstrip_blocks, no
// autoescape, the tags break, continue and generation, the filter tojson as
// plain json.dumps without escapes, the globals raise_exception and
// strftime_now, no loader (include, import and extends raise TypeError).
// Sources: Jinja's "Template Designer Documentation" and "Sandbox", and
// transformers' documentation of chat templates.
//
// Unlike Python a render is bounded: in steps, in the size of what it makes, in
// depth. It has no side effects, draws no lots (the random filter and lipsum
// raise UnsupportedError) and takes its clock as an argument. A Template may be
// rendered by many goroutines at once.
package jinja

import (
	"sync"
	"time"
	"unicode/utf8"

	"github.com/interlock-harness/interlock/providers/prompt/jinja/internal/python"
	"github.com/interlock-harness/interlock/providers/prompt/jinja/internal/syntax"
)

// Error is a refusal: the class of the Python exception (or LimitError,
// UnsupportedError), its message, and for mistakes in the template the line.
type Error = python.Error

// Values that a render takes. Any of nil, bool, int, float64, string, *List and
// *Dict; DecodeJSON makes them from JSON.
type (
	// Value is one of them.
	Value = python.Value
	// Dict is a mapping in the order of its keys.
	Dict = python.Dict
	// List is a sequence.
	List = python.List
)

// NewDict returns an empty Dict.
func NewDict() *Dict { return python.NewDict() }

// NewList returns a List of items, which it keeps.
func NewList(items ...Value) *List { return python.NewList(items...) }

// Options bound and date one render. The zero value stands for the defaults.
type Options struct {
	Now       func() time.Time // what strftime_now sees; asked once at most, and only where it is called; default time.Now
	MaxSteps  int              // statements, calls, items, and 1 for 16 bytes of text; default 10,000,000
	MaxOutput int              // bytes of the output and of every text on the way; default 16 MiB
	MaxDepth  int              // Python frames, of which a macro takes five; default 991
}

// The limits that Options leaves out.
const (
	DefaultMaxSteps  = 10_000_000
	DefaultMaxOutput = 16 << 20
	DefaultMaxDepth  = 991
)

func (o Options) thread() *python.Thread {
	pick := func(v, standard int) int {
		if v <= 0 {
			return standard
		}
		return v
	}
	now := o.Now
	if now == nil {
		now = time.Now
	}
	return &python.Thread{
		Steps:    pick(o.MaxSteps, DefaultMaxSteps),
		MaxBytes: pick(o.MaxOutput, DefaultMaxOutput),
		Frames:   pick(o.MaxDepth, DefaultMaxDepth),
		Now:      sync.OnceValue(now),
	}
}

// Template is a compiled template.
type Template struct {
	root   *function
	self   int // slot of the name self, or -1
	enter  func(*activation)
	body   stmt
	blocks map[string]*blockCode
}

// Parse compiles source, which must be UTF-8. The error is an *Error.
func Parse(source string) (*Template, error) {
	if !utf8.ValidString(source) {
		return nil, &Error{Class: "UnicodeDecodeError", Message: "the template is not UTF-8 text"}
	}
	body, failed := syntax.Parse(source)
	if failed != nil {
		return nil, failed
	}
	var t *Template
	if failed := python.Catch(func() { t = compile(body) }); failed != nil {
		return nil, failed
	}
	return t, nil
}

func compile(body []syntax.Stmt) *Template {
	c := &compiler{blocks: map[string]*blockCode{}, fold: foldThread()}
	blocks := c.findBlocks(body)
	fn := newFunction(nil)
	f := frame{scope: newScope(nil, fn), fn: fn, top: true, indent: 1}
	t := &Template{root: fn, self: -1, blocks: c.blocks}
	if readsUndeclared(body, "self")["self"] {
		f.scope.parameter("self")
		t.self = fn.slot(f.scope, "self")
	}
	f.scope.collect(body)
	t.enter, t.body = f.enter(), c.body(body, f)
	for _, b := range blocks {
		c.compileBlock(b)
	}
	return t
}

// Render returns the text of t with vars as its variables, by name: messages,
// tools, add_generation_prompt and whatever else the template asks for. The
// error is an *Error. vars is not changed.
func (t *Template) Render(vars *Dict, o Options) (string, error) {
	text, failed, copyFirst := t.render(vars, o)
	if copyFirst {
		text, failed, _ = t.render(python.Thaw(vars).(*Dict), o)
	}
	if failed != nil {
		return "", failed
	}
	return text, nil
}

// render renders once. copyFirst says that the template changes a list of the
// caller and wants a copy.
func (t *Template) render(vars *Dict, o Options) (text string, failed *Error, copyFirst bool) {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(python.NeedsCopy); !ok {
				panic(r)
			}
			copyFirst = true
		}
	}()
	failed = python.Catch(func() {
		ctx := &context{vars: vars, blocks: t.blocks}
		if len(t.blocks) > 0 {
			ctx.set = map[string]python.Value{}
		}
		a := t.root.start(nil, o.thread(), ctx)
		if t.self >= 0 {
			a.slots[t.self] = &templateObject{ctx}
		}
		t.enter(a)
		t.body(a)
		text = a.out.Joined()
	})
	return text, failed, false
}
