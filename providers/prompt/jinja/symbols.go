package jinja

import (
	"github.com/interlock-harness/interlock/providers/prompt/jinja/internal/python"
	"github.com/interlock-harness/interlock/providers/prompt/jinja/internal/syntax"
)

// load says what a variable of a scope is when the scope is entered.
type load byte

const (
	loadParameter load = iota // already there: a parameter, a loop variable
	loadResolve               // looked up in the context
	loadAlias                 // the value of the same name in an outer scope
	loadUndefined             // missing until it is set
)

// variable is a name of a scope.
type variable struct {
	load  load
	outer *scope // of loadAlias
}

// scope holds the names of one block of statements, the way Jinja tracks them
// before it generates code: a name that is only read belongs to the outermost
// scope that knows it, a name that is set belongs to the scope that sets it.
type scope struct {
	parent *scope
	level  int
	fn     *function
	vars   map[string]variable
	stores map[string]bool
}

func newScope(parent *scope, fn *function) *scope {
	s := &scope{parent: parent, fn: fn, vars: map[string]variable{}, stores: map[string]bool{}}
	if parent != nil {
		s.level = parent.level + 1
	}
	return s
}

// find returns the scope that holds name, s or one around it, or nil.
func (s *scope) find(name string) *scope {
	for ; s != nil; s = s.parent {
		if _, ok := s.vars[name]; ok {
			return s
		}
	}
	return nil
}

func (s *scope) read(name string) {
	if s.find(name) == nil {
		s.vars[name] = variable{load: loadResolve}
	}
}

func (s *scope) store(name string) {
	s.stores[name] = true
	if _, ok := s.vars[name]; ok {
		return
	}
	if outer := s.parent.find(name); outer != nil {
		s.vars[name] = variable{load: loadAlias, outer: outer}
		return
	}
	s.vars[name] = variable{load: loadUndefined}
}

func (s *scope) parameter(name string) {
	s.stores[name] = true
	s.vars[name] = variable{load: loadParameter}
}

func (s *scope) copy() *scope {
	c := &scope{parent: s.parent, level: s.level, fn: s.fn, vars: make(map[string]variable, len(s.vars)), stores: make(map[string]bool, len(s.stores))}
	for name, v := range s.vars {
		c.vars[name] = v
	}
	for name := range s.stores {
		c.stores[name] = true
	}
	return c
}

// merge takes over what the branches of an if know. A name that not every
// branch sets may keep the value it had outside.
func (s *scope) merge(branches []*scope) {
	set := map[string]int{}
	for _, b := range branches {
		for name := range b.stores {
			if !s.stores[name] {
				set[name]++
			}
		}
	}
	for _, b := range branches {
		for name, v := range b.vars {
			s.vars[name] = v
		}
		for name := range b.stores {
			s.stores[name] = true
		}
	}
	for name, n := range set {
		if n == len(branches) {
			continue
		}
		if outer := s.parent.find(name); outer != nil {
			s.vars[name] = variable{load: loadAlias, outer: outer}
		} else {
			s.vars[name] = variable{load: loadResolve}
		}
	}
}

// must returns the scope that holds name. The filter of a set block is not
// looked at when names are collected, so that a name which stands only there
// fails, in Jinja as here.
func (s *scope) must(name string) *scope {
	found := s.find(name)
	if found == nil {
		python.Raise("AssertionError", "Tried to resolve a name to a reference that was unknown to the frame ('%s')", name)
	}
	return found
}

// collect notes the names of statements that share the scope s.
func (s *scope) collect(body []syntax.Stmt) {
	for _, stmt := range body {
		s.statement(stmt)
	}
}

func (s *scope) statement(stmt syntax.Stmt) {
	switch n := stmt.(type) {
	case *syntax.Output:
		s.exprs(n.Parts)
	case *syntax.If:
		s.expr(n.Test)
		s.branches(n)
	case *syntax.For: // the body has its own scope
		s.expr(n.Iter)
	case *syntax.Assign:
		s.expr(n.Value)
		s.target(n.Target, false)
	case *syntax.AssignBlock:
		s.target(n.Target, false)
	case *syntax.Macro:
		s.store(n.Name)
	case *syntax.CallBlock:
		s.expr(n.Call)
	case *syntax.FilterBlock:
		s.expr(n.Filter)
	case *syntax.With:
		s.exprs(n.Values)
	case *syntax.Load:
		s.expr(n.Template)
		for _, name := range n.Targets {
			s.store(name)
		}
	}
}

func (s *scope) branches(n *syntax.If) {
	body, elifs, otherwise := s.copy(), s.copy(), s.copy()
	body.collect(n.Body)
	for _, elif := range n.Elifs {
		elifs.statement(elif)
	}
	otherwise.collect(n.Else)
	s.merge([]*scope{body, elifs, otherwise})
}

// target notes the names that are assigned to.
func (s *scope) target(e syntax.Expr, parameter bool) {
	switch n := e.(type) {
	case *syntax.Name:
		if parameter {
			s.parameter(n.Name)
		} else {
			s.store(n.Name)
		}
	case *syntax.NamespaceRef:
		s.read(n.Name)
	case *syntax.Tuple:
		for _, item := range n.Items {
			s.target(item, parameter)
		}
	}
}

func (s *scope) exprs(all []syntax.Expr) {
	for _, e := range all {
		s.expr(e)
	}
}

func (s *scope) expr(e syntax.Expr) {
	walk(e, func(name string) bool {
		s.read(name)
		return true
	})
}
