package syntax

import "github.com/interlock-harness/interlock/providers/prompt/jinja/internal/python"

// Expr is an expression. Its concrete types are the structs below.
type Expr interface{ Line() int }

// At is the line of a node, from 1.
type At int

// Line returns the line.
func (a At) Line() int { return int(a) }

type (
	// Const is a literal, or an expression that was folded into one.
	Const struct {
		At
		Value python.Value
	}
	// Name reads a variable, or is the target of an assignment.
	Name struct {
		At
		Name string
	}
	// NamespaceRef is the target ns.attr of a set statement.
	NamespaceRef struct {
		At
		Name, Attr string
	}
	// Tuple is a, b.
	Tuple struct {
		At
		Items []Expr
	}
	// List is [a, b].
	List struct {
		At
		Items []Expr
	}
	// Dict is {key: value}.
	Dict struct {
		At
		Keys, Values []Expr
	}
	// Conditional is Then if Test else Else; Else may be nil.
	Conditional struct {
		At
		Test, Then, Else Expr
	}
	// Binary is Left Op Right for + - * / // % ** and or.
	Binary struct {
		At
		Op          string
		Left, Right Expr
	}
	// Unary is Op Operand for not, - and +.
	Unary struct {
		At
		Op      string
		Operand Expr
	}
	// Concat is a ~ b ~ c.
	Concat struct {
		At
		Items []Expr
	}
	// Compare is a chain: First Ops[0] Rest[0] Ops[1] Rest[1] ...
	// with == != < <= > >= in and not in.
	Compare struct {
		At
		First Expr
		Ops   []string
		Rest  []Expr
	}
	// Filter is Operand|Name(Args). Operand is nil in set and filter blocks.
	Filter struct {
		At
		Operand Expr
		Name    string
		Args
	}
	// Test is Operand is Name(Args).
	Test struct {
		At
		Operand Expr
		Name    string
		Args
	}
	// Call is Callee(Args). Callee is nil for the generation tag's own call.
	Call struct {
		At
		Callee Expr
		Args
	}
	// GetAttr is Operand.Name.
	GetAttr struct {
		At
		Operand Expr
		Name    string
	}
	// GetItem is Operand[Key]; Key may be a *Slice.
	GetItem struct {
		At
		Operand, Key Expr
	}
	// Slice is Start:Stop:Step; each may be nil.
	Slice struct {
		At
		Start, Stop, Step Expr
	}
)

// Args are the arguments of a call: positional, named, *Star and **StarStar.
type Args struct {
	Pos      []Expr
	Names    []string
	Named    []Expr
	Star     Expr
	StarStar Expr
}

// Stmt is a statement. Its concrete types are the structs below.
type Stmt interface{ Line() int }

type (
	// Data is template text. It stands in an Output and is an Expr too.
	Data struct {
		At
		Text string
	}
	// Output prints its parts.
	Output struct {
		At
		Parts []Expr
	}
	// For is a loop; Test and Else may be nil.
	For struct {
		At
		Target    Expr
		Iter      Expr
		Test      Expr
		Body      []Stmt
		Else      []Stmt
		Recursive bool
	}
	// If is a chain of branches.
	If struct {
		At
		Test  Expr
		Body  []Stmt
		Elifs []*If
		Else  []Stmt
	}
	// Macro defines Name.
	Macro struct {
		At
		Name string
		Signature
		Body []Stmt
	}
	// CallBlock calls Call with Body as its caller.
	CallBlock struct {
		At
		Call *Call
		Signature
		Body []Stmt
	}
	// FilterBlock prints Body through Filter.
	FilterBlock struct {
		At
		Filter *Filter
		Body   []Stmt
	}
	// With opens a scope with its own variables.
	With struct {
		At
		Targets, Values []Expr
		Body            []Stmt
	}
	// Autoescape is {% autoescape Value %}.
	Autoescape struct {
		At
		Value Expr
		Body  []Stmt
	}
	// Block is {% block Name %}.
	Block struct {
		At
		Name             string
		Body             []Stmt
		Scoped, Required bool
	}
	// Load is extends, include, import or from: other templates, of which
	// there are none.
	Load struct {
		At
		Tag           string
		Template      Expr
		Targets       []string // variables that import and from would set
		IgnoreMissing bool
	}
	// Assign is set Target = Value.
	Assign struct {
		At
		Target, Value Expr
	}
	// AssignBlock is set Target with a body; Filter may be nil.
	AssignBlock struct {
		At
		Target Expr
		Filter *Filter
		Body   []Stmt
	}
	// Jump is break or continue.
	Jump struct {
		At
		Break bool
	}
)

// Signature is what a macro takes. Defaults belong to the last parameters.
type Signature struct {
	Params   []string
	Defaults []Expr
}
