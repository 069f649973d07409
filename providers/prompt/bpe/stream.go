package bpe

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// StreamOptions says what TokenizeStream does.
type StreamOptions struct {
	Decode           bool // ids to text instead of text to ids
	NoSpecial        bool // added tokens in a text are text; special tokens are left out when decoding
	AddSpecialTokens bool // as in Options
}

// TokenizeStream reads a JSON array of strings from in and writes a JSON array
// with an array of ids for each to out, or the other way round, with the
// tokenizer in file.
func TokenizeStream(file string, in io.Reader, out io.Writer, o StreamOptions) error {
	t, err := Load(file)
	if err != nil {
		return err
	}
	if o.Decode {
		return stream(in, out, "an array of arrays of ids", func(ids []int) (string, error) { return t.Decode(ids, o.NoSpecial) })
	}
	options := Options{AddSpecialTokens: o.AddSpecialTokens}
	if o.NoSpecial {
		options.Added = NoAdded
	}
	return stream(in, out, "an array of strings", func(text string) ([]int, error) { return t.Encode(text, options) })
}

// stream turns the JSON array in into the JSON array out, element by element.
func stream[From, To any](in io.Reader, out io.Writer, what string, turn func(From) (To, error)) error {
	var all []From
	dec := json.NewDecoder(bufio.NewReader(in))
	err := dec.Decode(&all)
	if err == nil && all == nil {
		err = errors.New("it is null")
	}
	if err == nil {
		if _, err = dec.Token(); err == nil {
			err = errors.New("something follows the array")
		} else if errors.Is(err, io.EOF) {
			err = nil
		}
	}
	if err != nil {
		return fmt.Errorf("the input is not %s: %w", what, err)
	}
	results := make([]To, len(all))
	for i, element := range all {
		if results[i], err = turn(element); err != nil {
			return fmt.Errorf("element %d: %w", i, err)
		}
	}
	w := bufio.NewWriter(out)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(results); err != nil {
		return err
	}
	return w.Flush()
}
