// Package rule evaluates the business rules of a contract: CEL expressions over
// input, output and reference that must be true.
//
// It is standard CEL with the strings extension and one function of ours,
// sum(list). Numbers are exact: an integer by value (12, 12.0, 1.2e1) is the
// integer 12, whatever its size, and a decimal keeps its digits; no number goes
// through a binary float. A rule that errs, or that costs more than CostLimit,
// counts as broken.
package rule

import (
	"fmt"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/cost"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"cel.dev/cel-go/ext"
)

// CostLimit bounds one evaluation, in CEL's units: about one for each step and
// for each ten characters. An honest rule over an answer of 1 MiB needs a tenth.
const CostLimit = 2_000_000

// maxExpression bounds the text of one rule.
const maxExpression = 8192

// Rule is one compiled rule. It is safe for concurrent use.
type Rule struct {
	ID      string
	Expr    string
	program cel.Program

	usesInput, usesReference bool
}

var environment = newEnvironment()

func newEnvironment() *cel.Env {
	env, err := cel.NewEnv(
		cel.Variable("input", cel.DynType),
		cel.Variable("output", cel.DynType),
		cel.Variable("reference", cel.DynType),
		ext.Strings(),
		cel.Function("sum",
			cel.Overload("sum_list", []*cel.Type{cel.ListType(cel.DynType)}, cel.DynType, cel.UnaryBinding(sum)),
			cel.MemberOverload("list_sum", []*cel.Type{cel.ListType(cel.DynType)}, cel.DynType, cel.UnaryBinding(sum))),
		cel.ParserExpressionSizeLimit(maxExpression),
	)
	if err != nil {
		panic("rule: " + err.Error()) // the environment is constant
	}
	return env
}

// Compile checks an expression and prepares it. It must be of type bool, or of a
// type that only the data decides.
func Compile(id, expr string) (r *Rule, err error) {
	defer func() {
		if p := recover(); p != nil {
			r, err = nil, fmt.Errorf("rule %s: %v", id, p)
		}
	}()
	if len(expr) > maxExpression {
		return nil, fmt.Errorf("rule %s has more than %d characters", id, maxExpression)
	}
	checked, issues := environment.Compile(expr)
	if issues.Err() != nil {
		return nil, fmt.Errorf("rule %s: %s", id, firstIssue(issues))
	}
	if t := checked.OutputType(); !t.IsExactType(cel.BoolType) && !t.IsExactType(cel.DynType) {
		return nil, fmt.Errorf("rule %s gives %s; a rule is true or false", id, t)
	}
	linear := func(args []ref.Val, _ ref.Val) *uint64 {
		n := uint64(1)
		if l, ok := args[0].(traits.Sizer); ok {
			if size, ok := l.Size().(types.Int); ok {
				n += uint64(size)
			}
		}
		return &n
	}
	program, err := environment.Program(checked,
		cel.CostLimit(CostLimit),
		cel.CostTrackerOptions(cost.OverloadTracker("sum_list", linear), cost.OverloadTracker("list_sum", linear)),
		cel.CustomDecoratorV2(exact(checked.NativeRep().SourceInfo(), expr)))
	if err != nil {
		return nil, fmt.Errorf("rule %s: %w", id, err)
	}
	r = &Rule{ID: id, Expr: expr, program: program}
	ast.PostOrderVisit(checked.NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() == ast.IdentKind {
			r.usesInput = r.usesInput || e.AsIdent() == "input"
			r.usesReference = r.usesReference || e.AsIdent() == "reference"
		}
	}))
	return r, nil
}

// firstIssue is one line: where and what.
func firstIssue(issues *cel.Issues) string {
	e := issues.Errors()[0]
	text := strings.Join(strings.Fields(e.Message), " ")
	if len(text) > 200 {
		text = strings.ToValidUTF8(text[:200], "") + "..."
	}
	return fmt.Sprintf("line %d, column %d: %s", e.Location.Line(), e.Location.Column()+1, text)
}

// Data is what rules see, converted once for all rules of a contract.
type Data struct {
	variables map[string]any
}

// NewData prepares values as strictjson.Decode returns them. Input or reference
// that is nil is not there: rules that mention it do not apply.
func NewData(input, output, reference any) *Data {
	d := &Data{variables: map[string]any{"output": value(output)}}
	if input != nil {
		d.variables["input"] = value(input)
	}
	if reference != nil {
		d.variables["reference"] = value(reference)
	}
	return d
}

// Applies reports whether what the rule mentions is there.
func (r *Rule) Applies(d *Data) bool {
	_, input := d.variables["input"]
	_, reference := d.variables["reference"]
	return (input || !r.usesInput) && (reference || !r.usesReference)
}

// Holds returns nil when the rule is true, else why it is broken.
func (r *Rule) Holds(d *Data) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it cannot be evaluated: %v", p)
		}
	}()
	out, _, err := r.program.Eval(d.variables)
	switch {
	case err != nil && strings.Contains(err.Error(), "cost limit"):
		return fmt.Errorf("it is stopped at the cost limit of %d", CostLimit)
	case err != nil:
		return fmt.Errorf("it cannot be evaluated: %s", short(err.Error()))
	case out == types.True:
		return nil
	case out == types.False:
		return fmt.Errorf("it is false")
	}
	return fmt.Errorf("it gives %s, not true or false", out.Type().TypeName())
}

func short(text string) string {
	if len(text) > 120 {
		text = strings.ToValidUTF8(text[:120], "") + "..."
	}
	return text
}
