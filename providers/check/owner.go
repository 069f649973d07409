package check

import (
	"bytes"
	"errors"
	"strings"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/envelope"
	"github.com/interlock-harness/interlock/providers/strictjson"
)

// assign gives each faulty transcript its owner.
func (r *Run) assign() {
	for _, o := range r.Observations {
		o.owner, o.lost = r.byReason(o)
	}
	r.crossTalk() // first: what belongs to another request is no fault of the stream
	r.streamFaults()
	r.common = map[string]bool{}
	for _, o := range r.of(Base, Other) {
		r.common[o.owner] = true
	}
	for _, o := range r.Observations { // what streams spoil, they spoil in probes, too
		for _, id := range []string{"W08", "W10"} {
			if r.common[id] && o.Probe != Base && o.Probe != Other && o.Stream() && aboutContent(o.owner) {
				o.owner = id
			}
		}
	}
}

// byReason finds the owner of a fault by the reason of the judgement, which names
// the first step of reading that failed.
func (r *Run) byReason(o *Observation) (owner string, lost bool) {
	j := o.Judgement
	family, detail, _ := strings.Cut(j.Reason, ".")
	switch family {
	case "ok":
		return "", false
	case "unknown":
		return unknownOwner(o, detail)
	case "error":
		return errorOwner(o, detail)
	case "stop":
		if detail == "abnormal" {
			return "F02", false
		}
		return "S01", false // cut, refused or filtered: no usable output
	case "envelope":
		return envelopeOwner(o, detail), false
	case "model":
		return "I02", false
	case "param":
		if strings.Contains(strings.ToLower(j.Place+" "+j.Detail), "temperature") {
			return "I04", false
		}
		return "U02", false
	case "tool":
		return toolOwner(o, detail), false
	case "json":
		return jsonOwner(o, detail), false
	case "schema":
		return schemaOwner(o, detail), false
	case "business":
		return r.ruleOwner(j.Reason), false
	}
	return "S01", false
}

func unknownOwner(o *Observation, detail string) (string, bool) {
	if !o.ok() {
		return "", true
	}
	switch detail {
	case "cut_stream":
		if o.Transcript.End == providers.EndEOF { // a clean close, and nothing said that this was all
			if !jsonLike(o.Transcript) {
				return "W01", false
			}
			return "W07", false
		}
	case "unreadable_body":
		if o.Transcript.End == providers.EndEOF {
			if jsonLike(o.Transcript) {
				return "W02", false
			}
			return "W01", false
		}
	}
	return "", true
}

func jsonLike(t providers.Transcript) bool {
	kind := envelope.ContentType(t)
	return strings.HasSuffix(kind, "json") || kind == "text/event-stream"
}

func errorOwner(o *Observation, detail string) (string, bool) {
	switch {
	case detail == "in_body":
		return "W03", false // an error that calls itself a success
	case detail == "rejected" && (o.Transcript.Status == 400 || o.Transcript.Status == 422):
		return "S09", false // our request, schema and all, is not one that this provider takes
	}
	return "", true
}

func envelopeOwner(o *Observation, detail string) string {
	switch detail {
	case "empty_output":
		return "F05"
	case "oversize":
		return "S04"
	case "encoding":
		return "W01"
	case "malformed_stream":
		if strings.Contains(o.Response.Malformed, "index") {
			return "T05"
		}
		return "W09"
	}
	return "F02"
}

func toolOwner(o *Observation, detail string) string {
	switch detail {
	case "wrong_name":
		return "T01"
	case "bad_arguments":
		if bomb(o) {
			return "S04"
		}
		return "T02"
	case "in_text":
		if leaked(o) {
			return "T05"
		}
	}
	return "T03"
}

// leaked tells text that is meant to be a call from other text.
func leaked(o *Observation) bool {
	text, tool := o.Response.Text, o.Transcript.Request.ToolName
	return tool != "" && strings.Contains(text, tool) || strings.Contains(text, `"arguments"`) || strings.Contains(text, `"parameters"`)
}

func jsonOwner(o *Observation, detail string) string {
	switch detail {
	case "fenced", "prose", "think_block", "special_token", "concatenated":
		return "S05"
	case "duplicate_key":
		return "S03"
	case "truncated":
		return "F01" // cut, and the end said to be a normal one
	}
	if bomb(o) {
		return "S04"
	}
	if o.Mode() == providers.ModeTool {
		return "T02"
	}
	return "S01"
}

// bomb tells the limits of size, depth and numbers from other syntax.
func bomb(o *Observation) bool {
	var e *strictjson.Error
	if !errors.As(strictjson.Check(said(o), strictjson.Limits{AllowNUL: true}), &e) {
		return false
	}
	switch e.Kind {
	case strictjson.KindNumber, strictjson.KindDepth, strictjson.KindKeys, strictjson.KindSize:
		return true
	}
	return false
}

// said is the output as it came, whatever it is worth.
func said(o *Observation) []byte {
	if len(o.Response.Calls) > 0 {
		return o.Response.Calls[0].Arguments
	}
	return []byte(o.Response.Text)
}

func schemaOwner(o *Observation, detail string) string {
	switch detail {
	case "extra_key", "wrapper":
		return "S02"
	case "null":
		return "S07"
	case "enum", "format", "range":
		return "S06"
	case "wrong_type":
		if o.Mode() == providers.ModeTool && len(o.Response.Calls) == 1 && bytes.HasPrefix(bytes.TrimSpace(o.Response.Calls[0].Arguments), []byte(`"`)) {
			return "T02" // the arguments, encoded once more
		}
	}
	return "S01"
}

func (r *Run) ruleOwner(id string) string {
	switch rule := r.Rules[id]; {
	case rule.Normalisation:
		return "B04"
	case rule.Quotation:
		return "B03"
	case rule.Cross:
		return "B02"
	}
	return "B01"
}

// streamFaults looks at the cases whose faults all lie in streams while the same
// request, not streamed, is answered well each time: then the stream is to blame
// and not what the model says. Text with replacement characters that the
// question does not hold was decoded in pieces.
//
// A form that was tried a few times may have met a fault that comes now and then;
// it is the stream's where it was tried often enough. Cases that look the same and
// were not asked again go by those that were.
func (r *Run) streamFaults() {
	tried, all := false, r.twins()
	for _, w := range all {
		tried = tried || w.tried() && w.onlyStreamsFail()
	}
	for _, w := range all {
		if w.tried() && apart(meanings(w.streams), meanings(w.whole)) {
			for _, o := range w.streams {
				o.form = o.owner == ""
			}
		}
		if !w.onlyStreamsFail() {
			continue
		}
		for _, o := range w.streams {
			switch {
			case !aboutContent(o.owner):
			case broken(o):
				o.owner = "W08"
			case tried:
				o.owner = "W10"
			}
		}
	}
}

// aboutContent tells the owners of what a model says from those of the wire.
func aboutContent(owner string) bool {
	switch owner {
	case "F01", "F05", "S01", "S02", "S03", "S04", "S05", "S06", "S07", "B01", "B02", "B03", "B04", "T01", "T02", "T03":
		return true
	}
	return false
}

func broken(o *Observation) bool {
	const replacement = "\uFFFD"
	said := o.Response.Text
	for _, c := range o.Response.Calls {
		said += string(c.Arguments)
	}
	return strings.Contains(said, replacement) && !strings.Contains(o.Transcript.Request.User, replacement)
}

// twins are the transcripts of one case in one mode, streamed and whole.
type twins struct {
	streams, whole []*Observation
	asked          *Observation // first, of either form
}

func (r *Run) twins() map[TwinCase]*twins {
	found := map[TwinCase]*twins{}
	for _, o := range r.of(Base, Other, Twin) {
		key := TwinCase{o.Case, o.Mode()}
		t := found[key]
		if t == nil {
			t = &twins{asked: o}
			found[key] = t
		}
		if o.Stream() {
			t.streams = append(t.streams, o)
		} else {
			t.whole = append(t.whole, o)
		}
	}
	return found
}

// tried reports whether both forms were tried often enough to tell a form that
// differs from answers that vary.
func (t *twins) tried() bool { return len(t.streams) >= FormTries && len(t.whole) >= FormTries }

func (t *twins) onlyStreamsFail() bool {
	if len(t.streams) == 0 || len(t.whole) == 0 {
		return false
	}
	for _, o := range t.whole {
		if o.owner != "" || o.lost {
			return false
		}
	}
	for _, o := range t.streams {
		if o.owner == "" {
			return false
		}
	}
	return true
}
