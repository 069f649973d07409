package jinja_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
)

// generator makes random conversations and templates.
type generator struct{ r *rand.Rand }

func (g *generator) pick(words ...string) string { return words[g.r.IntN(len(words))] }

// chance is true once in n times.
func (g *generator) chance(n int) bool { return g.r.IntN(n) == 0 }

// generatorVars are the variables that random templates may read.
const generatorVars = `{"s":"Hello World","u":"héllo Ωß İ","h":"<b>&\"'","e":"","n":7,"neg":-3,"f":2.5,"z":null,"t":true,"no":false,
"l":[3,1,2],"w":["b","A","c","a"],"mix":[1,"a",null,[2],{"k":"v"}],"d":{"b":1,"a":[1,2],"items":"x","c":{"d":"e"}},
"users":[{"name":"bob","age":30,"tags":["x"]},{"name":"Alice","age":25,"tags":[]},{"name":"carl","age":30,"tags":null}],
"messages":[{"role":"system","content":"You are S."},{"role":"user","content":" Hi \n"},{"role":"assistant","content":null,"tool_calls":[{"function":{"name":"f","arguments":{"a":1}}}]}],"big":12345678901234567890}`

func quoteJSON(s string) string {
	data, _ := json.Marshal(s)
	return string(data)
}

// text is the content of a message, with all that breaks prompts.
func (g *generator) text() string {
	return g.pick("Hello", "", " ", "  lead", "trail  \n", "\n\n", "a\nb\n\nc", "<think>\nhm\n</think>\n\nanswer", "<think>open", "no</think>yes", "{{ 7*7 }} {% raw %}",
		`{"a": {"b": [1, 2]}}`, "it's \"quoted\" \\ back", "<b>&amp;</b>", "കേരളം 👩‍👩‍👧‍👦", "x</s>[/INST]<|im_end|>", "tab\tsep", "\u00a0nbsp\u2003", "İstanbul ΑΣ ß",
		"None", "```py\nprint(1)\n```", "/no_think do", "final", strings.Repeat("long ", 50))
}

func (g *generator) content() string {
	switch g.r.IntN(12) {
	case 0:
		return "null"
	case 1:
		return `[{"type":"text","text":` + quoteJSON(g.text()) + `}]`
	case 2:
		return `[{"type":"text","text":` + quoteJSON(g.text()) + `},{"type":"image","url":"x"},{"type":"image_url","image_url":{"url":"y"}}]`
	case 3:
		return g.pick("[]", "5", "true", `{"a":1}`, `["a","b"]`, `{"text":"t"}`)
	}
	return quoteJSON(g.text())
}

func (g *generator) value(depth int) string {
	switch n := g.r.IntN(9); {
	case n == 0 && depth > 0:
		return "[" + g.value(depth-1) + "," + g.value(depth-1) + "]"
	case n == 1 && depth > 0:
		return `{` + quoteJSON(g.pick("a", "b c", "é")) + `:` + g.value(depth-1) + `,"z":` + g.value(depth-1) + `}`
	case n == 2:
		return g.pick("1", "-2.5", "1e3", "0", "12345678901234567890", "1.0")
	case n == 3:
		return g.pick("true", "false", "null", "[]", "{}")
	}
	return quoteJSON(g.text())
}

func (g *generator) toolCalls() string {
	var calls []string
	for range 1 + g.r.IntN(2) {
		arguments := g.pick(`{}`, `{"city":"Kochi","days":2}`, `{"x":`+g.value(2)+`}`)
		if g.chance(3) {
			arguments = quoteJSON(arguments)
		}
		function := `{"name":"` + g.pick("get_weather", "add") + `","arguments":` + arguments + `}`
		if g.chance(6) {
			calls = append(calls, function)
			continue
		}
		calls = append(calls, fmt.Sprintf(`{"id":%s,"type":"function","function":%s}`, g.pick(`"call12345"`, `"abcdefghi"`, `"1"`, "null"), function))
	}
	return "[" + strings.Join(calls, ",") + "]"
}

func (g *generator) message() string {
	role := g.pick("user", "user", "user", "assistant", "assistant", "system", "tool", "developer", "ipython", "critic")
	fields := []string{`"role":"` + role + `"`, `"content":` + g.content()}
	if role == "assistant" && g.chance(3) {
		fields = append(fields, `"tool_calls":`+g.toolCalls())
	}
	if role == "assistant" && g.chance(5) {
		fields = append(fields, g.pick(`"reasoning_content":`, `"thinking":`, `"reasoning":`)+g.content())
	}
	if role == "tool" {
		fields = append(fields, g.pick(`"name":"get_weather"`, `"tool_call_id":"call12345"`, `"tool_call_id":"abcdefghi","name":"add"`))
	}
	if g.chance(15) {
		fields = fields[:1]
	}
	return "{" + strings.Join(fields, ",") + "}"
}

func (g *generator) schema(depth int) string {
	kind := g.pick(`"string"`, `"integer"`, `"number"`, `"boolean"`, `"array"`, `"object"`, `["string","null"]`, `"null"`)
	fields := []string{`"type":` + kind}
	if g.chance(2) {
		fields = append(fields, `"description":`+quoteJSON(g.text()))
	}
	if g.chance(4) {
		fields = append(fields, `"enum":["a","b",1,null]`)
	}
	if g.chance(5) {
		fields = append(fields, `"default":`+g.value(1))
	}
	if depth > 0 && kind == `"array"` && !g.chance(5) {
		fields = append(fields, `"items":`+g.schema(depth-1))
	}
	if depth > 0 && kind == `"object"` && !g.chance(5) {
		fields = append(fields, `"properties":`+g.properties(depth-1))
	}
	if g.chance(8) {
		fields = append(fields, g.pick(`"oneOf":[{"type":"string"},{"type":"null"}]`, `"anyOf":[]`, `"nullable":true`, `"minimum":1,"maximum":1.5`))
	}
	return "{" + strings.Join(fields, ",") + "}"
}

func (g *generator) properties(depth int) string {
	var all []string
	for _, name := range []string{"unit", "city", "b", "items", "keys", "é"}[:g.r.IntN(7)] {
		all = append(all, quoteJSON(name)+":"+g.schema(depth))
	}
	return "{" + strings.Join(all, ",") + "}"
}

func (g *generator) tools() string {
	var all []string
	for range g.r.IntN(3) {
		parameters := `{"type":"object","properties":` + g.properties(2) + g.pick("", `,"required":["city"]`, `,"required":[]`) + `}`
		function := `{"name":"` + g.pick("get_weather", "add", "é f") + `","description":` + quoteJSON(g.text()) + `,"parameters":` + parameters
		function += g.pick("}", `,"return":{"type":"string"}}`, `,"strict":true}`)
		if g.chance(6) {
			all = append(all, function)
			continue
		}
		all = append(all, `{"type":"function","function":`+function+`}`)
	}
	return "[" + strings.Join(all, ",") + "]"
}

// conversation is a JSON object of the variables of one render.
func (g *generator) conversation() string {
	var messages []string
	n := 1 + g.r.IntN(5)
	if g.chance(2) { // one that alternates, so that more templates accept it
		if g.chance(2) {
			messages = append(messages, `{"role":"system","content":`+quoteJSON(g.text())+`}`)
		}
		for i := range n {
			role := []string{"user", "assistant"}[i%2]
			messages = append(messages, `{"role":"`+role+`","content":`+g.content()+`}`)
		}
	} else {
		for range n {
			messages = append(messages, g.message())
		}
	}
	fields := []string{`"messages":[` + strings.Join(messages, ",") + `]`, `"add_generation_prompt":` + g.pick("true", "false")}
	if g.chance(2) {
		fields = append(fields, `"tools":`+g.pick(g.tools(), g.tools(), g.tools(), "null"))
	}
	optional := []string{`"enable_thinking":` + g.pick("true", "false"), `"thinking":` + g.pick("true", "false"), `"date_string":"26 Jul 2024"`,
		`"documents":[{"title":"T","text":"x","doc_id":"1"}]`, `"custom_tools":` + g.tools(), `"tools_in_user_message":` + g.pick("true", "false"),
		`"builtin_tools":["brave_search","code_interpreter"]`, `"controls":{"length":"long"}`, `"reasoning_effort":"high"`, `"guardian_config":{"risk_name":"harm"}`,
		`"functions":` + quoteJSON(g.text()), `"guideline":"g"`, `"citations":true`, `"documents":null`, `"categories":{"S1":"x"}`, `"excluded_category_keys":["S2"]`,
		`"preserve_thinking":true`, `"strftime_now":null`, `"keep_past_thinking":true`, `"xml_tools":` + g.tools(), `"python_tools":[]`, `"grounded_generation":true`}
	seen := map[string]bool{}
	for _, o := range optional {
		name, _, _ := strings.Cut(o, ":")
		if g.chance(9) && !seen[name] {
			seen[name] = true
			fields = append(fields, o)
		}
	}
	return "{" + strings.Join(fields, ",") + "}"
}

// template is a random template: mostly sensible, sometimes not.
func (g *generator) template() string {
	var b strings.Builder
	for range 1 + g.r.IntN(4) {
		b.WriteString(g.statement(3))
	}
	s := b.String()
	if g.chance(25) { // break it somewhere
		i := g.r.IntN(len(s))
		s = s[:i] + g.pick("", "}", "{%", "'", "(", "-", " if ", "|", "#}") + s[i+1:]
		s = strings.ToValidUTF8(s, "")
	}
	return s
}

func (g *generator) open() string            { return g.pick("{%", "{%", "{%", "{%-", "{%+") + " " }
func (g *generator) close() string           { return " " + g.pick("%}", "%}", "%}", "-%}", "+%}") }
func (g *generator) tag(words string) string { return g.open() + words + g.close() }
func (g *generator) data() string {
	return g.pick("", " ", "\n", "  \n", "a", "x\n  ", "\t", "{# c #}", "{#- c -#}\n", "<|im_start|>")
}

func (g *generator) body(depth int) string {
	var b strings.Builder
	for range g.r.IntN(3) + 1 {
		b.WriteString(g.data() + g.statement(depth))
	}
	return b.String() + g.data()
}

func (g *generator) target() string { return g.pick("a", "b", "x", "ns.v", "a, b", "i", "s") }

func (g *generator) statement(depth int) string {
	n := g.r.IntN(22)
	if depth == 0 {
		n = g.r.IntN(8)
	}
	switch n {
	case 8:
		return g.tag("if "+g.expr(2)) + g.body(depth-1) + g.pick("", g.tag("else")+g.body(depth-1), g.tag("elif "+g.expr(1))+g.body(depth-1)) + g.tag("endif")
	case 9, 10:
		return g.tag("for "+g.pick("i", "a", "x", "a, b", "m")+" in "+g.sequence()+g.pick("", "", " if "+g.expr(1))) + g.loopBody(depth-1) +
			g.pick("", "", g.tag("else")+g.body(depth-1)) + g.tag("endfor")
	case 11:
		return g.tag("set " + g.target() + " = " + g.expr(2))
	case 12:
		return g.tag("set "+g.pick("a", "b", "x")+g.pick("", "", " | upper", " | replace('a', 'b') | trim")) + g.body(depth-1) + g.tag("endset")
	case 13:
		name := g.pick("m1", "m2")
		return g.tag("macro "+name+"("+g.pick("", "a", "a, b=1", "a=x, b=a")+")") + g.body(depth-1) + g.pick("", "{{ varargs }}", "{{ kwargs }}", "{{ caller() }}") + g.tag("endmacro") +
			"{{ " + name + "(" + g.pick("", "1", "1, 2", "a=1", "b=2", "1, 2, 3", "z=1") + ") }}"
	case 14:
		return g.tag("macro c()") + "[{{ caller(" + g.pick("", "1") + ") }}]" + g.tag("endmacro") + g.tag("call"+g.pick("", "(a)", "(a=2)")+" c()") + g.body(depth-1) + g.tag("endcall")
	case 15:
		return g.tag("filter "+g.pick("upper", "trim", "indent(2)", "replace(' ', '_')", "length", "title")) + g.body(depth-1) + g.tag("endfilter")
	case 16:
		return g.tag("with "+g.pick("a=1", "a=x, b=a", "s=s|upper")) + g.body(depth-1) + g.tag("endwith")
	case 17:
		return g.tag("set ns = namespace(" + g.pick("", "v=0", "v='q', w=1") + ")")
	case 18:
		return g.tag("generation") + g.body(depth-1) + g.tag("endgeneration")
	case 19:
		return g.tag("raw") + g.pick("{{ x }}", " {% if %} ", "") + g.tag("endraw")
	case 20:
		if g.chance(4) {
			return g.tag("block "+g.pick("bl", "bm")+g.pick("", " scoped")) + g.body(depth-1) + g.tag("endblock")
		}
	}
	return g.pick("{{ ", "{{ ", "{{- ") + g.expr(3) + g.pick(" }}", " }}", " -}}")
}

func (g *generator) loopBody(depth int) string {
	b := g.body(depth)
	switch g.r.IntN(6) {
	case 0:
		b += "{{ loop." + g.pick("index", "index0", "revindex", "revindex0", "first", "last", "length", "previtem", "nextitem", "depth", "cycle('p','q')", "changed(i)") + " }}"
	case 1:
		b = g.tag("if "+g.expr(1)) + g.tag(g.pick("break", "continue")) + g.tag("endif") + b
	}
	return b
}

func (g *generator) sequence() string {
	return g.pick("l", "w", "users", "d.items()", "d", "s", "range(3)", "mix", "messages", "[1, 2, 3]", "[]", "z", "undef", "l|reverse", "messages[1:]", "users|map(attribute='name')", g.expr(2))
}

func (g *generator) atom() string {
	return g.pick("s", "u", "h", "e", "n", "neg", "f", "z", "t", "no", "l", "w", "mix", "d", "users", "messages", "big", "a", "b", "x", "i", "m", "ns", "ns.v", "undef", "loop",
		"1", "0", "-1", "2.5", "'a'", "'x y'", "\"q'\"", "'é\\n'", "true", "none", "[]", "{}", "[1, 'b']", "(1, 2)", "{'k': 'v', 'l': [1]}", "()", "10**20", "1e3")
}

func (g *generator) expr(depth int) string {
	if depth == 0 {
		return g.atom()
	}
	sub := func() string { return g.expr(depth - 1) }
	switch g.r.IntN(20) {
	case 0, 1:
		return sub() + " " + g.pick("+", "-", "*", "/", "//", "%", "~", "~", "+") + " " + sub()
	case 2:
		return sub() + " " + g.pick("==", "!=", "<", ">", "<=", ">=", "in", "not in") + " " + sub()
	case 3:
		return "(" + sub() + " " + g.pick("and", "or") + " " + sub() + ")"
	case 4:
		return "(" + sub() + " if " + sub() + g.pick(" else "+sub(), "") + ")"
	case 5:
		return g.pick("not ", "-", "+") + sub()
	case 6, 7, 8:
		return g.operand(sub()) + "|" + g.filter()
	case 9:
		return g.operand(sub()) + " is " + g.pick("", "not ") + g.test()
	case 10, 11:
		return g.operand(sub()) + g.pick(".name", ".a", ".content", ".items", ".foo", ".c.d", ".role", "['b']", "['items']", "[0]", "[-1]", "[1:]", "[:2]", "[::-1]", "[0:5:2]", "["+sub()+"]", ".0", ".tool_calls")
	case 12, 13, 14:
		return g.operand(sub()) + "." + g.method()
	case 15:
		return g.pick("range", "dict", "namespace", "joiner", "cycler", "m1", "c", "undef", "raise_exception", "strftime_now") + "(" + g.pick("", sub(), "'%Y'", "1, 3", "a="+sub(), "*l", "**d") + ")"
	case 16:
		return "[" + sub() + ", " + sub() + "]"
	case 17:
		return "{'a': " + sub() + ", " + g.pick("'b'", "1", "s") + ": " + sub() + "}"
	}
	return g.atom()
}

// operand puts brackets where an operator would bind less tightly.
func (g *generator) operand(e string) string {
	if strings.ContainsAny(e, " -+") && !g.chance(12) {
		return "(" + e + ")"
	}
	return e
}

func (g *generator) filter() string {
	return g.pick("upper", "lower", "title", "capitalize", "trim", "length", "count", "list", "string", "int", "float", "abs", "round", "round(1)", "first", "last", "reverse|list", "sort",
		"sort(attribute='name')", "sort(reverse=true)", "unique|list", "join(',')", "join(', ', attribute='name')", "default('D')", "default('D', true)", "tojson", "tojson(indent=2)",
		"tojson(sort_keys=true, separators=(',', ':'))", "items|list", "dictsort", "map('upper')|list", "map(attribute='name')|list", "map(attribute='x', default='y')|join", "select|list",
		"selectattr('name')|list", "selectattr('age', 'eq', 30)|list", "reject('none')|list", "rejectattr('tags')|list", "batch(2)|list", "slice(2)|list", "indent", "indent(2, true)",
		"replace('a', 'b')", "replace('l', '', 1)", "wordcount", "center(12)", "escape", "safe", "e", "striptags", "urlencode", "truncate(5)", "wordwrap(5)", "format(1)", "sum", "min", "max",
		"groupby('age')", "groupby('age')|map('first')|list", "attr('name')", "pprint", "filesizeformat", "xmlattr", "forceescape", "urlize", "map('int')|sum", "map('length')|list", "nofilter")
}

func (g *generator) test() string {
	return g.pick("defined", "undefined", "none", "string", "number", "integer", "float", "boolean", "true", "false", "mapping", "sequence", "iterable", "callable", "odd", "even",
		"divisibleby 2", "eq 1", "equalto('a')", "ne 1", "gt 1", "lt 5", "in [1, 'a']", "in s", "sameas none", "lower", "upper", "escaped", "filter", "test", "notest")
}

func (g *generator) method() string {
	return g.pick("upper()", "lower()", "strip()", "split()", "split(' ')", "split('l', 1)", "rsplit(' ', 1)", "startswith('H')", "endswith(('d', 'x'))", "replace('l', 'L')", "find('o')", "index('o')",
		"join(w)", "join(l)", "title()", "capitalize()", "count('l')", "zfill(9)", "isdigit()", "isalpha()", "splitlines()", "partition('o')", "rpartition(' ')", "center(20, '*')", "lstrip('H')",
		"rstrip()", "removeprefix('He')", "removesuffix('d')", "format(1, a=2)", "encode()", "swapcase()", "expandtabs()", "ljust(8)", "items()", "keys()", "values()|list", "get('a')", "get('zz', 1)",
		"items()|list", "append(1)", "update({})", "index(1)", "count(1)", "copy()", "foo()", "__class__", "_x", "pop()", "islower()", "bit_length()", "is_integer()")
}
