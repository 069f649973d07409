package judge

import (
	"bytes"
	"errors"
	"strings"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/contract"
	"github.com/interlock-harness/interlock/providers/strictjson"
)

// strict are the limits of an output. Its size is bounded where it is read.
var strict = strictjson.Limits{MaxBytes: -1, MaxKeys: -1, AllowNUL: true}

// output is steps 10 to 13.
func output(c *contract.Contract, k *contract.Case, t providers.Transcript, r *providers.Response) providers.Judgement {
	if t.Request.Mode == providers.ModeTool {
		call, j, done := theCall(c, t, r)
		if done {
			return j
		}
		value, j, done := arguments(call)
		if done {
			return j
		}
		return verify(c, k, value, call.Arguments)
	}
	if strings.TrimSpace(r.Text) == "" {
		return reject("envelope.empty_output", emptyPlace(r), "the answer holds no text")
	}
	value, j, done := oneValue(r.Text)
	if done {
		return j
	}
	return verify(c, k, value, []byte(r.Text))
}

func emptyPlace(r *providers.Response) string {
	if r.At.Output == "" {
		return "body"
	}
	return at(r.At.Output)
}

// theCall is step 11: the one call to the offered tool.
func theCall(c *contract.Contract, t providers.Transcript, r *providers.Response) (*providers.ToolCall, providers.Judgement, bool) {
	name := t.Request.ToolName
	if name == "" && c != nil {
		name = c.Tool.Name
	}
	fail := func(reason, place, format string, args ...any) (*providers.ToolCall, providers.Judgement, bool) {
		return nil, reject(reason, place, format, args...), true
	}
	switch {
	case len(r.Calls) == 0 && strings.TrimSpace(r.Text) != "":
		return fail("tool.in_text", at(r.At.Output), "the tool was not called; there is text instead")
	case len(r.Calls) == 0:
		return fail("envelope.empty_output", "body", "the answer holds neither a call nor text")
	case len(r.Calls) > 1:
		return fail("tool.duplicate_call", at(r.Calls[1].Place), "%d calls, one was asked", len(r.Calls))
	case r.Calls[0].Name != name:
		return fail("tool.wrong_name", at(r.Calls[0].Place), "%q was called, %q is on offer", cut(r.Calls[0].Name, 64), name)
	}
	return &r.Calls[0], providers.Judgement{}, false
}

// arguments checks that the arguments of a call have the form of their protocol.
// Repeated names, and numbers and depths beyond all bounds, are faults of the
// value, not of the form.
func arguments(call *providers.ToolCall) (any, providers.Judgement, bool) {
	fail := func(format string, args ...any) (any, providers.Judgement, bool) {
		return nil, reject("tool.bad_arguments", at(call.Place), format, args...), true
	}
	if call.Encoding == providers.ArgumentsInvalid {
		return fail("the arguments are not in the form that the protocol prescribes")
	}
	value, err := strictjson.Decode(call.Arguments, strict)
	var fault *strictjson.Error
	if errors.As(err, &fault) {
		if lenient := strictjson.Check(call.Arguments, strictjson.Lenient); lenient != nil {
			return fail("the arguments are not one JSON value: %s", strings.TrimPrefix(lenient.Error(), "json: "))
		}
		return nil, valueFault(fault), true
	}
	if _, object := value.(map[string]any); !object && call.Encoding == providers.ArgumentsObject {
		return fail("the arguments are no object")
	}
	return value, providers.Judgement{}, false
}

// verify is step 13.
func verify(c *contract.Contract, k *contract.Case, value any, text []byte) providers.Judgement {
	if c == nil {
		return accept(bytes.Trim(text, " \t\r\n"))
	}
	var input, reference any
	if k != nil {
		input, reference = k.Input, k.Reference
	}
	fault, broken := c.Verify(input, value, reference)
	switch {
	case fault != nil:
		return reject("schema."+string(fault.Reason), strings.TrimSpace("output "+fault.Path), "%s", fault.Detail)
	case broken != nil:
		return reject(broken.Rule.ID, "rule "+broken.Rule.ID, "%s: %s", strings.TrimSuffix(broken.Rule.Text, "."), broken.Why)
	}
	return accept(bytes.Trim(text, " \t\r\n"))
}
