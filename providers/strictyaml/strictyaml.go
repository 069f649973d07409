// Package strictyaml reads the YAML files of this project the one way that leaves
// nothing open.
//
// One document; no anchors, aliases, tags or merge keys; no repeated or unknown
// keys; no value that YAML versions read differently (no, on, 010, 12:30, 1_000,
// 2026-01-01) unless it is quoted; UTF-8 without a byte order mark and without
// characters that turn the text around. Every error is one sentence that begins
// with file:line. Numbers keep their digits (json.Number).
package strictyaml

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	yaml "go.yaml.in/yaml/v3"
)

// Limits of one file.
const (
	MaxBytes = 1 << 20
	MaxDepth = 64
)

// Error is what is wrong, and where.
type Error struct {
	File string
	Line int // from 1; 0 where no line is at fault
	Text string
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Text
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Text)
}

// Decode reads data into to, a pointer. Struct fields go by their json or yaml
// tags; a field without one is not read. The name of the file is for errors only.
func Decode(file string, data []byte, to any) error {
	root, err := parse(file, data)
	if err != nil {
		return err
	}
	d := decoder{file: file}
	return d.into(root, to)
}

// Value reads data as JSON-like data: nil, bool, string, json.Number, []any and
// map[string]any.
func Value(file string, data []byte) (any, error) {
	var v any
	err := Decode(file, data, &v)
	return v, err
}

// Remarks names what is accepted but better mended: line ends and the last one.
func Remarks(data []byte) []string {
	var out []string
	if bytes.Contains(data, []byte("\r\n")) {
		out = append(out, "lines end in CR LF")
	}
	if len(data) > 0 && data[len(data)-1] != '\n' {
		out = append(out, "no line feed at the end")
	}
	return out
}

func parse(file string, data []byte) (*yaml.Node, error) {
	if err := characters(file, data); err != nil {
		return nil, err
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var document yaml.Node
	if err := dec.Decode(&document); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, &Error{file, 0, "the file is empty"}
		}
		return nil, syntax(file, err)
	}
	var second yaml.Node
	if err := dec.Decode(&second); err == nil {
		return nil, &Error{file, second.Line, "a second document begins here; one file holds one"}
	} else if !errors.Is(err, io.EOF) {
		return nil, syntax(file, err)
	}
	if len(document.Content) != 1 {
		return nil, &Error{file, 0, "the file is empty"}
	}
	root := document.Content[0]
	if err := check(file, root, 1); err != nil {
		return nil, err
	}
	return root, nil
}

// characters refuses what no reader of the file would see as it is.
func characters(file string, data []byte) error {
	if len(data) > MaxBytes {
		return &Error{file, 0, fmt.Sprintf("the file has more than %d bytes", MaxBytes)}
	}
	if bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) {
		return &Error{file, 1, "the file begins with a byte order mark (U+FEFF); save it without"}
	}
	line := 1
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		switch {
		case r == '\n':
			line++
		case r == utf8.RuneError && n == 1:
			return &Error{file, line, fmt.Sprintf("byte 0x%02x is not UTF-8", data[i])}
		case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
			return &Error{file, line, fmt.Sprintf("U+%04X turns the direction of the text; remove it", r)}
		case r < 0x20 && r != '\t' && r != '\r', r >= 0x7f && r < 0xa0 && r != 0x85:
			return &Error{file, line, fmt.Sprintf("control character U+%04X; write it as an escape in double quotes", r)}
		}
		i += n
	}
	return nil
}

// syntax turns "yaml: line 3: text" into our form.
func syntax(file string, err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 0
	if rest, ok := strings.CutPrefix(text, "line "); ok {
		if n, after, found := strings.Cut(rest, ": "); found {
			if _, err := fmt.Sscanf(n, "%d", &line); err == nil {
				text = after
			}
		}
	}
	if strings.Contains(text, "cannot start any token") {
		text += " (indent with blanks, not with tabs)"
	}
	return &Error{file, line, text}
}

func check(file string, n *yaml.Node, depth int) error {
	fail := func(format string, args ...any) error { return &Error{file, n.Line, fmt.Sprintf(format, args...)} }
	switch {
	case depth > MaxDepth:
		return fail("nested deeper than %d", MaxDepth)
	case n.Kind == yaml.AliasNode:
		return fail("alias *%s: write the value itself", n.Value)
	case n.Anchor != "":
		return fail("anchor &%s: aliases are not read, so remove it", n.Anchor)
	case n.Style&yaml.TaggedStyle != 0:
		return fail("tag %s: values are read as what they look like, so remove it", n.Tag)
	}
	if n.Kind == yaml.MappingNode {
		seen := map[string]int{}
		for i := 0; i < len(n.Content); i += 2 {
			k := n.Content[i]
			if err := key(file, k); err != nil {
				return err
			}
			if first, ok := seen[k.Value]; ok {
				return &Error{file, k.Line, fmt.Sprintf("key %q stands here and in line %d", k.Value, first)}
			}
			seen[k.Value] = k.Line
		}
	}
	for _, c := range n.Content {
		if err := check(file, c, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func key(file string, k *yaml.Node) error {
	switch {
	case k.Kind == yaml.AliasNode || k.Anchor != "" || k.Style&yaml.TaggedStyle != 0: // check says it
		return nil
	case k.Kind != yaml.ScalarNode:
		return &Error{file, k.Line, "a key must be a plain word"}
	case k.Value == "<<":
		return &Error{file, k.Line, "merge key <<: write the fields themselves"}
	}
	if r, ok := Hidden(k.Value); ok {
		return &Error{file, k.Line, fmt.Sprintf("key holds the invisible character U+%04X", r)}
	}
	if quoted(k) {
		return nil
	}
	if why := ambiguous(k.Value); why != "" {
		return &Error{file, k.Line, fmt.Sprintf("key %s %s: quote it", k.Value, why)}
	}
	return nil
}

// Hidden returns the first character of s that has no width of its own. Scripts
// that join letters need such characters in texts; an id never does.
func Hidden(s string) (rune, bool) {
	for _, r := range s {
		switch {
		case r >= 0x200b && r <= 0x200f, r >= 0x2060 && r <= 0x2064, r == 0xfeff, r == 0xad, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
			return r, true
		}
	}
	return 0, false
}
