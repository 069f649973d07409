package report

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/interlock-harness/interlock/harness/history"
)

// drawn is one play with the picture that its history shows.
type drawn struct {
	play    Play
	start   int64 // microseconds on the clock of the run
	labels  *Labels
	picture Picture
}

// drawings draws every play of a run that left a history, in the order of the run.
func drawings(r *Run, all []history.Event) []drawn {
	events, c := ByPlay(all), clockOf(all)
	var list []drawn
	for _, p := range r.Plays {
		own := events[p.History]
		if p.History == "" || len(own) == 0 {
			continue
		}
		labels := NewLabels(own)
		list = append(list, drawn{p, start(own), labels, Draw(own, labels, c)})
	}
	return list
}

// Perfetto writes a run as a trace in the JSON form that Perfetto and Chrome open:
// a process for each play, a thread for each row of a lane, so that no two slices
// of one thread overlap. Times are microseconds since the run began.
func Perfetto(w io.Writer, r *Run, all []history.Event) error {
	type event struct {
		Name  string            `json:"name"`
		Phase string            `json:"ph"`
		TS    int64             `json:"ts"`
		Dur   *int64            `json:"dur,omitempty"`
		Scope string            `json:"s,omitempty"`
		PID   int               `json:"pid"`
		TID   int               `json:"tid"`
		Args  map[string]string `json:"args,omitempty"`
	}
	events := []event{}
	for i, d := range drawings(r, all) {
		pid := i + 1
		events = append(events, event{Name: "process_name", Phase: "M", PID: pid, Args: map[string]string{"name": Untrusted(d.play.History).Terminal() + ": " + string(d.play.Verdict)}})
		threads := map[string]int{}
		items := slices.Clone(d.picture.Items)
		slices.SortStableFunc(items, func(a, b Item) int {
			return cmp.Or(cmp.Compare(slices.Index(d.picture.Lanes, a.Lane), slices.Index(d.picture.Lanes, b.Lane)), cmp.Compare(a.Row, b.Row), cmp.Compare(a.From, b.From))
		})
		for _, item := range items {
			row := item.Lane
			if item.Row > 0 {
				row += " " + strconv.Itoa(item.Row+1)
			}
			tid, known := threads[row]
			if !known {
				tid = len(threads) + 1
				threads[row] = tid
				events = append(events, event{Name: "thread_name", Phase: "M", PID: pid, TID: tid, Args: map[string]string{"name": Untrusted(row).Terminal()}})
			}
			e := event{Name: Untrusted(item.Label).Terminal(), TS: d.start + item.From, PID: pid, TID: tid, Args: map[string]string{
				"what": Untrusted(item.What).Terminal(), "outcome": Untrusted(item.Outcome).Terminal(), "event": itoa(item.N),
			}}
			if item.To > item.From {
				took := item.To - item.From
				e.Phase, e.Dur = "X", &took
			} else {
				e.Phase, e.Scope = "i", "t"
			}
			events = append(events, e)
		}
	}
	return json.NewEncoder(w).Encode(map[string]any{"displayTimeUnit": "ms", "traceEvents": events})
}

type otlpAttribute struct {
	Key   string `json:"key"`
	Value struct {
		String string `json:"stringValue"`
	} `json:"value"`
}

func attribute(key, value string) otlpAttribute {
	a := otlpAttribute{Key: key}
	a.Value.String = Untrusted(value).Terminal()
	return a
}

type otlpLink struct {
	TraceID string `json:"traceId"`
	SpanID  string `json:"spanId"`
}

type otlpSpan struct {
	TraceID    string          `json:"traceId"`
	SpanID     string          `json:"spanId"`
	Parent     string          `json:"parentSpanId,omitempty"`
	Name       string          `json:"name"`
	Kind       int             `json:"kind"` // 1: internal
	Start      string          `json:"startTimeUnixNano"`
	End        string          `json:"endTimeUnixNano"`
	Attributes []otlpAttribute `json:"attributes,omitempty"`
	Links      []otlpLink      `json:"links,omitempty"`
}

// OTLP writes a run in the file form of OpenTelemetry's JSON encoding, one trace a
// line: a trace for each job of each play, whose root is the job, with a span for
// each thing that took time. A span of an attempt is linked to the job.
func OTLP(w io.Writer, r *Run, all []history.Event) error {
	out := bufio.NewWriter(w)
	began := r.Started
	if c := clockOf(all); c.known {
		began = c.wall.Add(-time.Duration(c.atUS) * time.Microsecond)
	}
	for _, d := range drawings(r, all) {
		jobs := map[string][]Item{}
		for _, item := range d.picture.Items {
			if item.Job != "" && item.To > item.From {
				jobs[item.Job] = append(jobs[item.Job], item)
			}
		}
		names := make([]string, 0, len(jobs))
		for job := range jobs {
			names = append(names, job)
		}
		slices.Sort(names)
		for _, job := range names {
			line, err := json.Marshal(traceOf(r, d, job, jobs[job], began))
			if err != nil {
				return err
			}
			if _, err := out.Write(append(line, '\n')); err != nil {
				return err
			}
		}
	}
	return out.Flush()
}

// traceOf is one line of OTLP.
func traceOf(r *Run, d drawn, job string, items []Item, began time.Time) any {
	id := func(n int, bytes int) string {
		sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%s\x00%d", r.ID, d.play.History, job, n))
		return hex.EncodeToString(sum[:bytes])
	}
	at := func(us int64) string {
		return strconv.FormatInt(began.Add(time.Duration(d.start+us)*time.Microsecond).UnixNano(), 10)
	}
	trace, root := id(-1, 16), id(-2, 8)
	first, last := items[0].From, items[0].To
	var spans []otlpSpan
	for n, item := range items {
		first, last = min(first, item.From), max(last, item.To)
		span := otlpSpan{
			TraceID: trace, SpanID: id(n, 8), Parent: root, Name: Untrusted(item.Label).Terminal(), Kind: 1, Start: at(item.From), End: at(item.To),
			Attributes: []otlpAttribute{attribute("interlock.lane", item.Lane), attribute("interlock.what", item.What), attribute("interlock.outcome", item.Outcome)},
		}
		if item.Look >= Starting && item.Look <= Cancelled {
			span.Links = []otlpLink{{trace, root}}
		}
		spans = append(spans, span)
	}
	spans = append([]otlpSpan{{
		TraceID: trace, SpanID: root, Name: "job " + Untrusted(d.labels.Of(job)).Terminal(), Kind: 1, Start: at(first), End: at(last),
		Attributes: []otlpAttribute{attribute("interlock.scenario", d.play.Slug), attribute("interlock.verdict", string(d.play.Verdict)), attribute("interlock.job", job)},
	}}, spans...)
	type scopeSpans struct {
		Scope struct {
			Name string `json:"name"`
		} `json:"scope"`
		Spans []otlpSpan `json:"spans"`
	}
	scope := scopeSpans{Spans: spans}
	scope.Scope.Name = "interlock"
	return map[string]any{"resourceSpans": []any{map[string]any{
		"resource":   map[string]any{"attributes": []otlpAttribute{attribute("service.name", "interlock"), attribute("interlock.target", r.Target)}},
		"scopeSpans": []scopeSpans{scope},
	}}}
}
