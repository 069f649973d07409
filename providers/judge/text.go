package judge

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/strictjson"
)

var (
	// Markup of models that think aloud.
	thinking = regexp.MustCompile(`(?i)</?(?:think|thinking|thoughts?|reasoning|reflection|analysis|scratchpad|cot|seed:think|inner_monologue)>|\[/?think(?:ing)?\]|◁/?think▷|<\|(?:begin|end)_of_(?:thought|solution)\|>`)
	// Tokens that steer a model and must never come out of it.
	special = regexp.MustCompile(`(?i)<\|[^|<>\n]{1,64}\|?>|<[^|<>\n]{1,64}\|>|<｜[^｜\n]{1,64}｜>|</?(?:s|bos|eos|pad|unk|sep|cls|mask|eot|eom|eod)>|<(?:start|end)_of_(?:turn|text|sequence|role|message|image)>|\[/?(?:INST|SYSTEM_PROMPT|TOOL_CALLS|AVAILABLE_TOOLS|TOOL_RESULTS|BOS|EOS|PAD|UNK)\]|<</?SYS>>|<(?:extra_id_|unused|reserved_?)[0-9]+>|<0x[0-9A-F]{2}>|</?(?:tool_call|tool_response|function_call|tools)>|<function=[^>\n]{1,64}>`)
)

// oneValue is step 12: text must be exactly one JSON value. The details tell
// apart what usually goes wrong.
func oneValue(text string) (any, providers.Judgement, bool) {
	data := []byte(text)
	value, err := strictjson.Decode(data, strict)
	var fault *strictjson.Error
	if !errors.As(err, &fault) {
		return value, providers.Judgement{}, false
	}
	if strictjson.Check(data, strictjson.Lenient) == nil {
		return nil, valueFault(fault), true
	}
	if errors.As(strictjson.Check(data, outer), &fault) { // the fault of the form, not that of a repeated name
		err = fault
	}
	reason, why := classify(text, fault)
	return nil, reject(reason, fmt.Sprintf("output byte %d", fault.Offset), "%s: %s", why, strings.TrimPrefix(err.Error(), "json: ")), true
}

// outer are strict limits that let repeated names pass.
var outer = func() strictjson.Limits { l := strict; l.AllowDuplicates = true; return l }()

// valueFault is a well-formed value that has no single meaning, or none within
// bounds.
func valueFault(f *strictjson.Error) providers.Judgement {
	place := fmt.Sprintf("output byte %d", f.Offset)
	if f.Path != "" {
		place = "output " + f.Path
	}
	reason := "json.syntax"
	if f.Kind == strictjson.KindDuplicateKey {
		reason = "json.duplicate_key"
	}
	return reject(reason, place, "%s", f.Detail)
}

// classify names the kind of a text that is not one JSON value.
func classify(text string, fault *strictjson.Error) (reason, why string) {
	s := strings.TrimLeft(text, " \t\r\n")
	if strings.HasPrefix(s, "\ufeff") {
		return "json.syntax", "a byte-order mark comes before the value"
	}
	before, after, whole := around(s)
	outside := edges(before) + "\n" + edges(after)
	broken := "" // what stands where the value breaks
	if at := fault.Offset; !whole && at < len(text) {
		broken = text[at:min(at+80, len(text))]
	}
	starts := func(r *regexp.Regexp) bool {
		m := r.FindStringIndex(broken)
		return m != nil && m[0] == 0
	}
	switch {
	case thinking.MatchString(outside) || starts(thinking):
		return "json.think_block", "reasoning stands beside the value"
	case special.MatchString(outside) || starts(special):
		return "json.special_token", "a token of the model's own markup stands beside the value"
	case fenced(before) || fenced(after) || strings.HasPrefix(broken, "```"):
		return "json.fenced", "the value stands in a code fence"
	case whole:
		return besideValue(before, after)
	}
	return withoutValue(s, before, fault)
}

// fenced tells the marks of a code block, and a backtick at either end. It reads
// all of a long text, so it is no regular expression.
func fenced(s string) bool {
	const spaces = " \t\r\n\f"
	return strings.Contains(s, "```") || strings.Contains(s, "~~~") ||
		strings.HasPrefix(strings.TrimLeft(s, spaces), "`") || strings.HasSuffix(strings.TrimRight(s, spaces), "`")
}

// besideValue is about a whole value with something beside it.
func besideValue(before, after string) (reason, why string) {
	if strings.TrimSpace(before) != "" {
		if strings.IndexFunc(before, wordly) < 0 {
			return "json.syntax", "characters come before the value"
		}
		return "json.prose", "text comes before the value"
	}
	rest := strings.TrimLeft(after, " \t\r\n,;\x1e")
	switch {
	case rest == "":
		return "json.syntax", "characters come after the value"
	case strings.ContainsRune(`{["`, rune(rest[0])), isScalar(rest):
		return "json.concatenated", "more than one value"
	case strings.IndexFunc(after, wordly) < 0:
		return "json.syntax", "characters come after the value"
	}
	return "json.prose", "text comes after the value"
}

// withoutValue is about a text in which no whole value stands.
func withoutValue(s, before string, fault *strictjson.Error) (reason, why string) {
	switch strings.ToLower(strings.TrimRight(s, " \t\r\n;")) {
	case "nan", "none", "nil", "infinity", "-infinity", "undefined", "true", "false", "null":
		return "json.syntax", "the word is no JSON"
	}
	opens := strings.IndexByte(`{["-0123456789`, s[0]) >= 0 || isLiteralStart(s)
	if s[0] == '[' && len(s) > 1 && unicode.IsLetter(rune(s[1])) && !isLiteralStart(s[1:]) {
		opens = false // "[Note] ..."
	}
	switch {
	case opens && fault.Kind == strictjson.KindTruncated:
		return "json.truncated", "the value is not closed"
	case opens:
		return "json.syntax", "the value is not JSON"
	case strings.IndexFunc(before, wordly) < 0:
		return "json.syntax", "the text is not JSON"
	}
	return "json.prose", "the text is no JSON value"
}

// around finds the first whole array or object of s, or a whole scalar at its
// start. Only the first few brackets are tried, so that hostile text stays cheap.
func around(s string) (before, after string, whole bool) {
	if n, err := strictjson.Prefix([]byte(s), strictjson.Lenient); err == nil {
		return "", s[n:], true
	}
	word := len(s) > 1 && s[0] == '[' && (unicode.IsLetter(rune(s[1])) || s[1] == '/') // [THINK], [Note]
	if (s[0] == '{' || s[0] == '[') && !word {
		return "", "", false // a broken value: what stands inside it is no value of its own
	}
	first := len(s)
	for i, tried := 1, 0; i < len(s) && tried < 8; i++ {
		if s[i] != '{' && s[i] != '[' {
			continue
		}
		first = min(first, i)
		tried++
		if n, err := strictjson.Prefix([]byte(s[i:]), strictjson.Lenient); err == nil && n > 2 {
			return s[:i], s[i+n:], true
		}
	}
	return s[:first], "", false
}

// edges are the parts of a text where markup stands.
func edges(s string) string {
	const most = 4096
	if len(s) <= 2*most {
		return s
	}
	return s[:most] + "\n" + s[len(s)-most:]
}

func wordly(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

func isScalar(s string) bool {
	word := s
	if i := strings.IndexAny(s, " \t\r\n,;"); i >= 0 {
		word = s[:i]
	}
	return strictjson.Check([]byte(word), strict) == nil
}

func isLiteralStart(s string) bool {
	for _, w := range []string{"true", "false", "null"} {
		if strings.HasPrefix(s, w) || strings.HasPrefix(w, s) && s != "" {
			return true
		}
	}
	return false
}
