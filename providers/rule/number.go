package rule

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"strconv"
	"strings"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"

	"github.com/interlock-harness/interlock/providers/strictjson"
)

// number is an exact value that CEL's own int cannot hold: a decimal, or an
// integer beyond 64 bits. Integers that fit are always types.Int.
type number struct {
	*big.Rat
	whole bool // an integer by type, so that division cuts
}

// value converts JSON data for CEL.
func value(v any) any {
	switch v := v.(type) {
	case json.Number:
		return parse(v)
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = value(e)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = value(e)
		}
		return out
	case nil:
		return types.NullValue
	}
	return v
}

func parse(n json.Number) ref.Val {
	text := string(n)
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		return types.Int(i)
	}
	if strings.ContainsAny(text, ".eE") {
		text = strictjson.CanonicalNumber(n) // 1.20 and 12e-1 take the same way
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return types.NewErr("%q is no number", text)
	}
	return fromRat(r, r.IsInt())
}

// fromRat is the CEL value of r; whole says that it is an integer by type.
func fromRat(r *big.Rat, whole bool) ref.Val {
	if whole && r.IsInt() && r.Num().IsInt64() {
		return types.Int(r.Num().Int64())
	}
	return &number{r, whole}
}

// fromFloat reads a float, which stands in the text of a rule, as the shortest
// decimal that it comes from.
func fromFloat(f float64) ref.Val {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return types.Double(f)
	}
	r, ok := new(big.Rat).SetString(strconv.FormatFloat(f, 'g', -1, 64))
	if !ok {
		return types.Double(f)
	}
	return &number{r, false}
}

// rat returns the exact value of a CEL number.
func rat(v ref.Val) (r *big.Rat, whole, ok bool) {
	switch v := v.(type) {
	case *number:
		return v.Rat, v.whole, true
	case types.Int:
		return new(big.Rat).SetInt64(int64(v)), true, true
	case types.Uint:
		return new(big.Rat).SetInt(new(big.Int).SetUint64(uint64(v))), true, true
	case types.Double:
		if n, is := fromFloat(float64(v)).(*number); is {
			return n.Rat, false, true
		}
	}
	return nil, false, false
}

func (n *number) Type() ref.Type {
	if n.whole {
		return types.IntType
	}
	return types.DoubleType
}

func (n *number) Value() any { return n.Rat }

func (n *number) String() string {
	if n.IsInt() {
		return n.Num().String()
	}
	return strings.TrimRight(n.FloatString(40), "0")
}

func (n *number) Equal(other ref.Val) ref.Val {
	r, _, ok := rat(other)
	return types.Bool(ok && n.Cmp(r) == 0)
}

// The methods that the type of the value promises; the operators of a rule do
// not come by here.

func (n *number) Compare(other ref.Val) ref.Val  { return order(n, other) }
func (n *number) Add(other ref.Val) ref.Val      { return arithmetic("_+_", n, other) }
func (n *number) Subtract(other ref.Val) ref.Val { return arithmetic("_-_", n, other) }
func (n *number) Multiply(other ref.Val) ref.Val { return arithmetic("_*_", n, other) }
func (n *number) Divide(other ref.Val) ref.Val   { return arithmetic("_/_", n, other) }
func (n *number) Modulo(other ref.Val) ref.Val   { return arithmetic("_%_", n, other) }
func (n *number) Negate() ref.Val                { return fromRat(new(big.Rat).Neg(n.Rat), n.whole) }

func (n *number) ConvertToNative(to reflect.Type) (any, error) {
	if to == reflect.TypeFor[string]() {
		return n.String(), nil
	}
	return nil, fmt.Errorf("an exact number does not become %v", to)
}

func (n *number) ConvertToType(t ref.Type) ref.Val {
	switch t {
	case types.IntType:
		cut := new(big.Int).Quo(n.Num(), n.Denom())
		return fromRat(new(big.Rat).SetInt(cut), true)
	case types.UintType:
		cut := new(big.Int).Quo(n.Num(), n.Denom())
		if cut.IsUint64() {
			return types.Uint(cut.Uint64())
		}
		return types.NewErr("range error converting %s to uint", n)
	case types.DoubleType:
		return &number{n.Rat, false}
	case types.StringType:
		return types.String(n.String())
	case types.TypeType:
		return n.Type().(ref.Val)
	}
	return types.NewErr("type conversion error from number to '%s'", t)
}
