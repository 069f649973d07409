package jinja

import (
	"bytes"
	"encoding/json"
	"math/big"
	"strconv"
	"strings"

	"github.com/interlock-harness/interlock/providers/prompt/jinja/internal/python"
	"github.com/interlock-harness/interlock/providers/strictjson"
)

// conversationLimits bound a JSON document of variables: a prompt may be large,
// but no template walks a thousand levels.
var conversationLimits = strictjson.Limits{MaxBytes: 64 << 20, MaxDepth: 512, MaxKeys: -1, MaxNumberLength: 4300, MaxExponent: 4300, AllowNUL: true}

// DecodeJSON returns the value of one JSON document, with objects as *Dict in
// the order of their keys, arrays as *List and integers of any size as Python
// has them. The error is a *strictjson.Error: two equal keys, invalid UTF-8 and
// lone surrogates are refused rather than guessed at.
func DecodeJSON(data []byte) (Value, error) {
	if err := strictjson.Check(data, conversationLimits); err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	return decode(d)
}

// decode reads one value token by token, because a Go map would lose the order
// of keys.
func decode(d *json.Decoder) (Value, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch v := token.(type) {
	case json.Number:
		return decodeNumber(string(v)), nil
	case json.Delim:
		if v == '[' {
			var items []Value
			for d.More() {
				item, err := decode(d)
				if err != nil {
					return nil, err
				}
				items = append(items, item)
			}
			_, err = d.Token()
			return python.NewList(items...), err
		}
		return decodeObject(d)
	}
	return token, nil
}

func decodeObject(d *json.Decoder) (Value, error) {
	o := python.NewDict()
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		value, err := decode(d)
		if err != nil {
			return nil, err
		}
		o.Set(key, value)
	}
	_, err := d.Token()
	return o, err
}

// decodeNumber returns an int for digits alone and a float otherwise; one that
// is too large is infinite, as in Python.
func decodeNumber(s string) Value {
	if strings.ContainsAny(s, ".eE") {
		f, _ := strconv.ParseFloat(s, 64)
		return f
	}
	if i, err := strconv.Atoi(s); err == nil {
		return i
	}
	b, _ := new(big.Int).SetString(s, 10)
	return b
}
