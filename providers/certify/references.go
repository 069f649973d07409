package certify

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/interlock-harness/interlock/providers/contract"
	"github.com/interlock-harness/interlock/providers/standin"
	"github.com/interlock-harness/interlock/providers/strictjson"
)

// References are the answers of a good provider to the cases of a contract, for a
// stand-in: the rendered prompt, and the reference as JSON with its keys in the
// order in which the schema requires them.
func References(c *contract.Contract) ([]standin.Reference, error) {
	order := orderOf(c)
	var refs []standin.Reference
	for _, k := range c.Cases {
		if k.Reference == nil {
			continue
		}
		r, err := c.Request(k.Input)
		if err != nil {
			return nil, fmt.Errorf("case %s: %w", k.ID, err)
		}
		refs = append(refs, standin.Reference{Text: r.User, Answer: string(order.write(nil, k.Reference)), Tool: c.Tool.Name})
	}
	for _, m := range c.Metamorphic { // the same answers, asked in another order
		for _, k := range c.Cases {
			input, ok := m.Input(k.Input)
			if !ok || k.Reference == nil {
				continue
			}
			r, err := c.Request(input)
			if err != nil {
				return nil, fmt.Errorf("case %s, %s: %w", k.ID, m.ID, err)
			}
			refs = append(refs, standin.Reference{Text: r.User, Answer: string(order.write(nil, k.Reference)), Tool: c.Tool.Name})
		}
	}
	return refs, nil
}

// order is the order of keys that a schema suggests: that of its required ones.
type order struct {
	required   []string
	properties map[string]order
	items      *order
}

func orderOf(c *contract.Contract) order {
	v, err := strictjson.Decode(c.Output.JSON(), strictjson.Limits{MaxDepth: 128})
	if err != nil {
		return order{}
	}
	return readOrder(v)
}

func readOrder(v any) order {
	schema, _ := v.(map[string]any)
	o := order{properties: map[string]order{}}
	names, _ := schema["required"].([]any)
	for _, n := range names {
		if s, ok := n.(string); ok {
			o.required = append(o.required, s)
		}
	}
	properties, _ := schema["properties"].(map[string]any)
	for name, p := range properties {
		o.properties[name] = readOrder(p)
	}
	if items, ok := schema["items"]; ok {
		inner := readOrder(items)
		o.items = &inner
	}
	return o
}

// write renders a value that strictjson or strictyaml decoded.
func (o order) write(to []byte, v any) []byte {
	switch v := v.(type) {
	case map[string]any:
		names := slices.Clone(o.required)
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		to = append(to, '{')
		first := true
		for _, name := range names {
			inner, there := v[name]
			if !there {
				continue
			}
			if !first {
				to = append(to, ',')
			}
			first = false
			to = append(plain(to, name), ':')
			to = o.properties[name].write(to, inner)
		}
		return append(to, '}')
	case []any:
		to = append(to, '[')
		for i, e := range v {
			if i > 0 {
				to = append(to, ',')
			}
			if o.items != nil {
				to = o.items.write(to, e)
			} else {
				to = order{}.write(to, e)
			}
		}
		return append(to, ']')
	}
	return plain(to, v)
}

// plain renders a value without members; numbers keep their spelling.
func plain(to []byte, v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic("certify: " + err.Error()) // texts, numbers, booleans and null only
	}
	return append(to, data...)
}
