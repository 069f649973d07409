package envelope

import (
	"bytes"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/sse"
	"github.com/interlock-harness/interlock/providers/strictjson"
)

// Done is the data of the event that ends streams of the OpenAI family.
const Done = "[DONE]"

// TooLong is what is wrong with a stream that has an event beyond all bounds.
const TooLong = "an event is longer than 1 MiB"

// Events reads the stream of t into b: take gets the type and the JSON data of
// each event. An event of type error, data that states a failure, data that is
// no JSON, and the [DONE] marker, after which nothing is read, are dealt with
// here.
func (b *Builder) Events(t providers.Transcript, take func(kind string, data strictjson.Raw)) {
	b.response.Stream = true
	for e, err := range sse.Events(t.Body) {
		if err != nil {
			b.Malformed(TooLong)
			return
		}
		b.event = e.N
		data, err := strictjson.Read(e.Data, strictjson.Lenient)
		switch {
		case err != nil && e.Type == "error":
			b.Fail(&providers.Failure{Type: e.Type, Message: string(e.Data)})
		case err != nil && string(bytes.TrimSpace(e.Data)) == Done:
			b.Marker()
			return
		case err != nil:
			b.Malformed("the data of an event is neither JSON nor the end marker")
		default:
			if f := Stated(data, false); f != nil {
				b.Fail(f)
			} else if e.Type == "error" {
				b.Fail(Error(data, ""))
			}
			if take(e.Type, data); b.response.EndMarker {
				return // the first end counts; what comes after it is not the answer
			}
		}
	}
}

// Lines reads a stream of JSON lines in the same way. What follows the last line
// feed counts only if it is a whole value: else the stream was cut in it.
func (b *Builder) Lines(t providers.Transcript, take func(data strictjson.Raw)) {
	b.response.Stream = true
	body := t.Body
	if _, err := strictjson.Read(body, strictjson.Lenient); err == nil {
		body = append(bytes.ReplaceAll(body, []byte("\n"), []byte(" ")), '\n') // one value, perhaps over many lines
	}
	for rest := body; len(rest) > 0; {
		line, after, ended := bytes.Cut(rest, []byte("\n"))
		rest = after
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		b.event++
		data, err := strictjson.Read(line, strictjson.Lenient)
		switch {
		case err != nil && ended:
			b.Malformed("a line is not JSON")
		case err != nil: // cut inside a line
		default:
			if f := Stated(data, false); f != nil {
				b.Fail(f)
			}
			if take(data); b.response.EndMarker {
				return
			}
		}
	}
}
