package standin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
)

// Manner is what good providers do differently, each of them in its own way and
// always alike. No check may hold it against them. The zero Manner is the
// stand-in's usual one.
type Manner struct {
	Piece   int    // tokens of a piece of a stream; default 6
	Indent  string // of the JSON that the model writes; default none, on one line
	Comment string // an event stream has this comment after each event
	Build   string // the fingerprint; default fp_standin_1
}

// MannerOf draws a manner: the same for the same seed, the usual one for seed 0.
func MannerOf(seed uint64) Manner {
	if seed == 0 {
		return Manner{}
	}
	draw := rand.New(rand.NewPCG(seed, 0))
	return Manner{
		Piece:   1 + draw.IntN(24),
		Indent:  []string{"", " ", "  ", "\t"}[draw.IntN(4)],
		Comment: []string{"", "", "ping", " keep-alive"}[draw.IntN(4)],
		Build:   fmt.Sprintf("fp_%010x", draw.Uint64N(1<<40)),
	}
}

// write is a JSON document as a model of this manner writes it.
func (m Manner) write(text string) string {
	if m.Indent == "" {
		return text
	}
	var b bytes.Buffer
	if json.Indent(&b, []byte(text), "", m.Indent) != nil {
		return text
	}
	return b.String()
}

// comment puts the comments into an event stream.
func (m Manner) comment(r Reply) Reply {
	if m.Comment == "" || !r.Stream {
		return r
	}
	var pieces []Piece
	for _, p := range r.Pieces {
		if p.Line { // not an event stream
			return r
		}
		pieces = append(pieces, p)
		if !p.Marker {
			pieces = append(pieces, Piece{Raw: []byte(":" + m.Comment + "\n\n")})
		}
	}
	r.Pieces = pieces
	return r
}
