package bpe

import (
	"encoding/json"
	"errors"
	"fmt"
)

// processor adds the special tokens of a sequence, such as the one that begins
// it (processors/*). It sees the sequence as parts, since what it adds counts
// as parts for the processor after it.
type processor func(parts [][]int, addSpecial bool) ([][]int, error)

func newProcessor(raw json.RawMessage) (processor, error) {
	var c struct {
		Type       string
		Processors []json.RawMessage
		Cls        *namedID
		Sep        *namedID
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return nil, err
	}
	switch c.Type {
	case "ByteLevel": // trims offsets, which ids do not have
		return func(parts [][]int, _ bool) ([][]int, error) { return parts, nil }, nil
	case "TemplateProcessing":
		return newTemplate(raw)
	case "BertProcessing", "RobertaProcessing":
		if c.Cls == nil || c.Sep == nil {
			return nil, fmt.Errorf("%s: cls or sep is missing", c.Type)
		}
		return enclose(c.Cls.id, c.Sep.id), nil
	case "Sequence":
		var all []processor
		for _, raw := range c.Processors {
			p, err := newProcessor(raw)
			if err != nil {
				return nil, err
			}
			all = append(all, p)
		}
		return func(parts [][]int, addSpecial bool) (_ [][]int, err error) {
			for _, p := range all {
				if parts, err = p(parts, addSpecial); err != nil {
					return nil, err
				}
			}
			return parts, nil
		}, nil
	}
	return nil, fmt.Errorf("the post-processor %q is not supported", c.Type)
}

// namedID is ["<s>", 0].
type namedID struct{ id int }

func (n *namedID) UnmarshalJSON(raw []byte) error {
	var name string
	var id uint32
	if err := json.Unmarshal(raw, &[]any{&name, &id}); err != nil {
		return err
	}
	n.id = int(id)
	return nil
}

func enclose(cls, sep int) processor {
	return func(parts [][]int, addSpecial bool) ([][]int, error) {
		if !addSpecial {
			return parts, nil
		}
		if len(parts) != 1 {
			return nil, errors.New("a post-processor for one sequence got several")
		}
		return [][]int{append(append([]int{cls}, parts[0]...), sep)}, nil
	}
}

// newTemplate builds a TemplateProcessing from its template for one sequence.
func newTemplate(raw json.RawMessage) (processor, error) {
	var c struct {
		Single []struct {
			Sequence     *struct{ ID string }
			SpecialToken *struct{ ID string }
		}
		SpecialTokens map[string]struct{ IDs []int } `json:"special_tokens"`
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return nil, err
	}
	type part struct {
		special bool
		ids     []int
	}
	var template []part
	for _, p := range c.Single {
		switch {
		case p.SpecialToken != nil:
			token, ok := c.SpecialTokens[p.SpecialToken.ID]
			if !ok {
				return nil, fmt.Errorf("TemplateProcessing: the special token %q has no ids", p.SpecialToken.ID)
			}
			template = append(template, part{true, token.IDs})
		case p.Sequence != nil && p.Sequence.ID == "A":
			template = append(template, part{})
		default:
			return nil, errors.New("TemplateProcessing: a part of the template is neither a special token nor sequence A")
		}
	}
	return func(parts [][]int, addSpecial bool) ([][]int, error) {
		if len(parts) != 1 {
			return nil, errors.New("a template for one sequence got several")
		}
		var out [][]int
		for _, p := range template {
			switch {
			case !p.special:
				out = append(out, parts[0])
			case addSpecial:
				out = append(out, p.ids)
			}
		}
		return out, nil
	}, nil
}
