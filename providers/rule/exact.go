package rule

import (
	"math/big"
	"regexp"
	"strconv"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/functions"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"cel.dev/cel-go/interpreter"
)

// exact replaces CEL's binary operators and float constants by exact ones. What
// is no number is left to CEL's own operations. A constant is read again from
// the text of the rule, since the parser has made a float of it.
func exact(info *ast.SourceInfo, expr string) interpreter.InterpretableDecoratorV2 {
	text := []rune(expr)
	return func(i interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
		switch n := i.(type) {
		case interpreter.InterpretableConst:
			if f, ok := n.Value().(types.Double); ok {
				return interpreter.NewConstValue(n.ID(), literal(info, text, n.ID(), float64(f))), nil
			}
		case interpreter.InterpretableCall:
			if op, ok := operations[n.Function()]; ok && len(n.Args()) == 2 {
				return &binary{InterpretableCall: n, operation: op, left: n.Args()[0], right: n.Args()[1]}, nil
			}
		}
		return i, nil
	}
}

var floatLiteral = regexp.MustCompile(`^-?[0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]{1,3})?`)

func literal(info *ast.SourceInfo, text []rune, id int64, f float64) ref.Val {
	if at, ok := info.GetOffsetRange(id); ok && int(at.Start) < len(text) {
		found := floatLiteral.FindString(string(text[at.Start:]))
		if again, err := strconv.ParseFloat(found, 64); err == nil && again == f {
			if r, ok := new(big.Rat).SetString(found); ok {
				return &number{r, false}
			}
		}
	}
	return fromFloat(f)
}

// binary evaluates both sides, errors and unknowns first, as CEL's own nodes do,
// and reports its cost.
type binary struct {
	interpreter.InterpretableCall
	operation   functions.BinaryOp
	left, right interpreter.InterpretableV2
}

func (b *binary) Eval(vars interpreter.Activation) ref.Val {
	return interpreter.EvalActivation(vars, b.Exec)
}

func (b *binary) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	l := b.left.Exec(frame)
	if types.IsUnknownOrError(l) {
		return l
	}
	r := b.right.Exec(frame)
	if types.IsUnknownOrError(r) {
		return r
	}
	out := b.operation(l, r)
	if costs := frame.CostTracker(); costs != nil {
		costs.EvalBinary(frame, b.ID(), b.InterpretableCall, l, r, out)
	}
	return out
}

var operations = map[string]functions.BinaryOp{
	operators.Add:           func(l, r ref.Val) ref.Val { return arithmetic(operators.Add, l, r) },
	operators.Subtract:      func(l, r ref.Val) ref.Val { return arithmetic(operators.Subtract, l, r) },
	operators.Multiply:      func(l, r ref.Val) ref.Val { return arithmetic(operators.Multiply, l, r) },
	operators.Divide:        func(l, r ref.Val) ref.Val { return arithmetic(operators.Divide, l, r) },
	operators.Modulo:        func(l, r ref.Val) ref.Val { return arithmetic(operators.Modulo, l, r) },
	operators.Equals:        func(l, r ref.Val) ref.Val { return types.Bool(same(l, r)) },
	operators.NotEquals:     func(l, r ref.Val) ref.Val { return types.Bool(!same(l, r)) },
	operators.Less:          func(l, r ref.Val) ref.Val { return compared(l, r, func(n types.Int) bool { return n < 0 }) },
	operators.LessEquals:    func(l, r ref.Val) ref.Val { return compared(l, r, func(n types.Int) bool { return n <= 0 }) },
	operators.Greater:       func(l, r ref.Val) ref.Val { return compared(l, r, func(n types.Int) bool { return n > 0 }) },
	operators.GreaterEquals: func(l, r ref.Val) ref.Val { return compared(l, r, func(n types.Int) bool { return n >= 0 }) },
	operators.In:            in,
}

// bigOperand reports whether an operation needs exact arithmetic.
func bigOperand(l, r ref.Val) bool {
	_, a := l.(*number)
	_, b := r.(*number)
	return a || b
}

func same(l, r ref.Val) bool {
	if bigOperand(l, r) {
		x, _, ok1 := rat(l)
		y, _, ok2 := rat(r)
		return ok1 && ok2 && x.Cmp(y) == 0
	}
	return types.Equal(l, r) == types.True
}

func order(l, r ref.Val) ref.Val {
	if bigOperand(l, r) {
		x, _, ok1 := rat(l)
		y, _, ok2 := rat(r)
		if !ok1 || !ok2 {
			return types.MaybeNoSuchOverloadErr(r)
		}
		return types.Int(x.Cmp(y))
	}
	if c, ok := l.(traits.Comparer); ok {
		return c.Compare(r)
	}
	return types.MaybeNoSuchOverloadErr(l)
}

func compared(l, r ref.Val, want func(types.Int) bool) ref.Val {
	n, ok := order(l, r).(types.Int)
	if !ok {
		return types.MaybeNoSuchOverloadErr(r)
	}
	return types.Bool(want(n))
}

func in(l, r ref.Val) ref.Val {
	if numeric(l) {
		if list, ok := r.(traits.Lister); ok {
			for it := list.Iterator(); it.HasNext() == types.True; {
				if same(l, it.Next()) {
					return types.True
				}
			}
			return types.False
		}
	}
	if c, ok := r.(traits.Container); ok {
		return c.Contains(l)
	}
	return types.MaybeNoSuchOverloadErr(r)
}

// arithmetic computes exactly where CEL would round, overflow, or refuse to mix
// integers and decimals.
func arithmetic(op string, l, r ref.Val) ref.Val {
	a, ok1 := l.(types.Int)
	b, ok2 := r.(types.Int)
	if ok1 && ok2 || !numeric(l) || !numeric(r) {
		out := standard(op, l, r)
		if !(ok1 && ok2) || !types.IsError(out) || b == 0 && (op == operators.Divide || op == operators.Modulo) {
			return out
		}
		l, r = a, b // an overflow of 64 bits
	}
	x, wx, ok1 := rat(l)
	y, wy, ok2 := rat(r)
	if !ok1 || !ok2 {
		return types.MaybeNoSuchOverloadErr(r)
	}
	whole := wx && wy
	z := new(big.Rat)
	switch op {
	case operators.Add:
		z.Add(x, y)
	case operators.Subtract:
		z.Sub(x, y)
	case operators.Multiply:
		z.Mul(x, y)
	case operators.Divide:
		if y.Sign() == 0 {
			return types.NewErr("division by zero")
		}
		if z.Quo(x, y); whole {
			z.SetInt(new(big.Int).Quo(x.Num(), y.Num()))
		}
	case operators.Modulo:
		if !whole {
			return types.MaybeNoSuchOverloadErr(r)
		}
		if y.Sign() == 0 {
			return types.NewErr("modulus by zero")
		}
		z.SetInt(new(big.Int).Rem(x.Num(), y.Num()))
	}
	if z.Num().BitLen()+z.Denom().BitLen() > maxBits {
		return types.NewErr("the number has too many digits")
	}
	return fromRat(z, whole)
}

// maxBits bounds a result: products of products grow without end.
const maxBits = 1 << 14

func numeric(v ref.Val) bool {
	switch v.(type) {
	case types.Int, types.Uint, types.Double, *number:
		return true
	}
	return false
}

func standard(op string, l, r ref.Val) ref.Val {
	switch op {
	case operators.Add:
		if a, ok := l.(traits.Adder); ok {
			return a.Add(r)
		}
	case operators.Subtract:
		if a, ok := l.(traits.Subtractor); ok {
			return a.Subtract(r)
		}
	case operators.Multiply:
		if a, ok := l.(traits.Multiplier); ok {
			return a.Multiply(r)
		}
	case operators.Divide:
		if a, ok := l.(traits.Divider); ok {
			return a.Divide(r)
		}
	case operators.Modulo:
		if a, ok := l.(traits.Modder); ok {
			return a.Modulo(r)
		}
	}
	return types.MaybeNoSuchOverloadErr(l)
}

// sum adds the numbers of a list exactly; of an empty list it is 0.
func sum(v ref.Val) ref.Val {
	list, ok := v.(traits.Lister)
	if !ok {
		return types.MaybeNoSuchOverloadErr(v)
	}
	var total ref.Val = types.IntZero
	for it := list.Iterator(); it.HasNext() == types.True; {
		e := it.Next()
		if !numeric(e) {
			return types.NewErr("sum: %s is no number", e.Type().TypeName())
		}
		if total = arithmetic(operators.Add, total, e); types.IsError(total) {
			return total
		}
	}
	return total
}
