package jinja

import (
	"errors"
	"fmt"
	"io"
	"time"
	"unicode/utf8"
)

// maxTemplate bounds a template file. The largest chat template in use has
// some tens of kilobytes.
const maxTemplate = 4 << 20

// ErrInput is wrapped by what RenderFile returns for a template or conversation
// that cannot be read, as against one that is refused (*Error).
var ErrInput = errors.New("unusable input")

// RenderFile writes to out what template makes of conversation: one JSON object
// with messages, tools and whatever else the template reads, whose keys become
// variables. now is what the template's clock shows. Nothing is written when the
// template refuses; the error is then an *Error, and else wraps ErrInput.
func RenderFile(template, conversation io.Reader, now time.Time, out io.Writer) error {
	source, err := readAll(template, maxTemplate, "template")
	if err != nil {
		return err
	}
	data, err := readAll(conversation, int64(conversationLimits.MaxBytes), "conversation")
	if err != nil {
		return err
	}
	v, err := DecodeJSON(data)
	if err != nil {
		return fmt.Errorf("%w: the conversation is not JSON: %w", ErrInput, err)
	}
	vars, ok := v.(*Dict)
	if !ok {
		return fmt.Errorf("%w: the conversation must be a JSON object with messages and other variables", ErrInput)
	}
	t, err := Parse(string(source))
	if err != nil {
		return err
	}
	text, err := t.Render(vars, Options{Now: func() time.Time { return now }})
	if err != nil {
		return err
	}
	_, err = io.WriteString(out, text)
	return err
}

func readAll(r io.Reader, most int64, what string) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	if err != nil {
		return nil, fmt.Errorf("%w: read the %s: %w", ErrInput, what, err)
	}
	if int64(len(data)) > most {
		return nil, fmt.Errorf("%w: the %s is longer than %d bytes", ErrInput, what, most)
	}
	if !utf8.Valid(data) {
		return nil, fmt.Errorf("%w: the %s is not UTF-8 text", ErrInput, what)
	}
	return data, nil
}
