package standin

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// Faults of the output: its form, its schema, its rules.
var outputFaults = []Fault{
	{Name: "wrong-type", Every: 20, Message: edit(func(n *node) {
		v := n.first('n')
		if v == nil {
			v = n.first('"')
			v.kind, v.text = 'n', "1"
			return
		}
		v.kind = '"'
	})},
	{Name: "missing-key", Every: 20, Message: edit(func(n *node) { n.members = n.members[:max(0, len(n.members)-1)] })},
	{Name: "extra-key-top", Message: edit(func(n *node) {
		n.members = append(n.members, member{"confidence", &node{kind: 'n', text: "0.98"}})
	})},
	{Name: "extra-key-nested", Message: edit(func(n *node) {
		inner := n
		n.each(func(_ string, v *node) bool {
			if v != n && v.kind == '{' {
				inner = v
			}
			return inner == n
		})
		inner.members = append(inner.members, member{"__proto__", &node{kind: 'x', text: "null"}})
	})},
	{Name: "extra-key-other-case", Message: edit(func(n *node) {
		if len(n.members) > 0 {
			first := n.members[0]
			n.members = append(n.members, member{strings.ToUpper(first.name), first.value})
		}
	})},
	{Name: "dup-key", Message: edit(func(n *node) {
		if n.kind == '{' && len(n.members) > 0 {
			n.members = append(n.members, n.members[0])
		}
	})},
	{Name: "exp-bomb", Message: edit(func(n *node) {
		v := n.first('n')
		if v == nil {
			v = n.first('"')
		}
		v.kind, v.text = 'n', "1e1000001"
	})},
	{Name: "deep-nest", Message: edit(func(n *node) {
		v := n.first('"')
		v.kind, v.text = 'x', strings.Repeat("[", 70)+strings.Repeat("]", 70)
	})},
	{Name: "fenced", Message: inText(func(s string) string { return "```json\n" + s + "\n```" })},
	{Name: "prose", Message: inText(func(s string) string { return "Here is the result:\n" + s })},
	{Name: "think-block", Message: inText(func(s string) string { return "<think>Two lines.</think>" + s })},
	{Name: "enum-synonym", Message: edit(func(n *node) {
		v := pick(n, "currency", '"')
		v.text = map[string]string{"EUR": "Euro", "USD": "US dollars", "INR": "rupees"}[v.text]
	})},
	{Name: "below-minimum", Message: edit(func(n *node) { pick(n, "qty", 'n').text = "0" })},
	{Name: "date-slashes", Message: edit(func(n *node) {
		v := pick(n, "issued_on", '"')
		v.text = strings.ReplaceAll(v.text, "-", "/")
	})},
	{Name: "null-for-absent", Message: edit(func(n *node) {
		v := pick(n, "issued_on", '"')
		v.kind, v.text = 'x', "null"
	})},
	{Name: "sorted-keys", Message: edit(func(n *node) {
		slices.SortFunc(n.members, func(a, b member) int { return strings.Compare(a.name, b.name) })
	})},
	{Name: "strict-ignored", Message: func(a Ask, m *Message) {
		if strings.Contains(a.User, "Forget the form that was asked for") {
			rewrite(func(string) string { return `{"answer":"see above"}` })(a, m)
		}
	}},
	{Name: "lines-reversed", Every: 10, Message: edit(func(n *node) {
		n.each(func(_ string, v *node) bool {
			if v.kind == '[' {
				slices.Reverse(v.members)
			}
			return true
		})
	})},
	{Name: "cross-talk", Every: 10, CrossTalk: true},
	{Name: "sum-mismatch", Message: edit(func(n *node) { bump(pick(n, "total_cents", 'n'), 1) })},
	{Name: "invented-id", Message: edit(func(n *node) { pick(n, "invoice_id", '"').text += "-X1" })},
	{Name: "invented-code", Message: edit(func(n *node) { pick(n, "sku", '"').text += "9" })},
	{Name: "locale-decimal", Message: edit(func(n *node) { // 12,40 read as 1240.00
		n.each(func(name string, v *node) bool {
			if v.kind == 'n' && strings.HasSuffix(name, "_cents") {
				v.text += "00"
			}
			return true
		})
	})},
	{Name: "other-year", Message: edit(func(n *node) {
		v := pick(n, "issued_on", '"')
		v.text = strings.Replace(v.text, "2026", "2025", 1)
	})},
	{Name: "paraphrased-quote", Message: edit(func(n *node) { pick(n, "quote", '"').text += ", the customer says" })},
	{Name: "position-bias", Message: func(a Ask, m *Message) { // judges by place: right only where L1 stands first
		first, second := strings.Index(a.User, `"L1"`), strings.Index(a.User, `"L2"`)
		if first >= 0 && second >= 0 && second < first {
			edit(func(n *node) {
				n.each(func(name string, v *node) bool {
					if name == "refund_cents" {
						bump(v, 100)
					}
					return true
				})
			})(a, m)
		}
	}},
	{Name: "shape-flip-1-in-10", Every: 10, Message: edit(func(n *node) {
		if v := pick(n, "total_cents", 'n'); v.text != "" {
			v.text += ".0"
		}
	})},
}

func bump(n *node, by int) {
	if v, err := strconv.Atoi(n.text); err == nil {
		n.text = strconv.Itoa(v + by)
	}
}

func replaceAll(data []byte, old, with string) []byte {
	return bytes.ReplaceAll(data, []byte(old), []byte(with))
}
