package judge

import (
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
	var data []byte
	if t.Request.Mode == providers.ModeTool {
		call, j, done := theCall(c, t, r)
		if done {
			return j
		}
		if j, done := arguments(call); done {
			return j
		}
		data = call.Arguments
	} else {
		if strings.TrimSpace(r.Text) == "" {
			return reject("envelope.empty_output", emptyPlace(r), "the answer holds no text")
		}
		if j, done := oneValue(r.Text); done {
			return j
		}
		data = []byte(r.Text)
	}
	value, err := strictjson.Decode(data, strict)
	if err != nil { // the checks above have seen to it
		return reject("json.syntax", "output", "%v", err)
	}
	return verify(c, k, value, []byte(strings.Trim(string(data), " \t\r\n")))
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
func arguments(call *providers.ToolCall) (providers.Judgement, bool) {
	place := at(call.Place)
	if call.Encoding == providers.ArgumentsInvalid {
		return found(providers.Reject, "tool.bad_arguments", place, "the arguments are not in the form that the protocol prescribes")
	}
	var fault *strictjson.Error
	err := strictjson.Check(call.Arguments, strict)
	if errors.As(err, &fault) {
		if lenient := strictjson.Check(call.Arguments, strictjson.Lenient); lenient != nil {
			return found(providers.Reject, "tool.bad_arguments", place, "the arguments are not one JSON value: %v", lenient)
		}
		return valueFault(fault)
	}
	if call.Encoding == providers.ArgumentsObject {
		if raw, err := strictjson.Read(call.Arguments, strict); err != nil || !raw.IsObject() {
			return found(providers.Reject, "tool.bad_arguments", place, "the arguments are no object")
		}
	}
	return next()
}

// verify is step 13.
func verify(c *contract.Contract, k *contract.Case, value any, text []byte) providers.Judgement {
	if c == nil {
		return accept(text)
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
	return accept(text)
}
