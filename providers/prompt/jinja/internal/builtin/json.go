package builtin

import "github.com/interlock-harness/interlock/providers/prompt/jinja/internal/python"

// toJSON is the filter that transformers puts in the place of Jinja's own:
// json.dumps, without HTML escapes, without ASCII escapes unless asked for, and
// with the keys in their order.
func toJSON(t *python.Thread, v python.Value, a python.Args) python.Value {
	p := a.Bind("tojson", 0, "ensure_ascii", "indent", "separators", "sort_keys")
	return python.JSON(t, v, python.JSONOptions{
		ASCII:     python.Truth(t, python.Or(p[0], false)),
		Indent:    python.Or(p[1], nil),
		Separator: python.Or(p[2], nil),
		SortKeys:  python.Truth(t, python.Or(p[3], false)),
	})
}
