package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
)

// Line is one event, or an operation with its outcome, as a person reads it.
type Line struct {
	N       int64  `json:"n"` // event
	AtUS    int64  `json:"at_us"`
	Lane    string `json:"lane"`
	What    string `json:"what"`
	Outcome string `json:"outcome,omitempty"`
	Here    bool   `json:"here,omitempty"` // where the rule was broken
	job     string
	weight  int // the heavier, the sooner it is left out
}

// Weights of lines.
const (
	proof = iota
	aFault
	aWrite
	aCall
	aRead
	onlyAsProof
)

// Lines tells the events of a play in order, an operation as one line at its
// beginning. Texts are as they were recorded: escape them at the sink.
func Lines(events []history.Event, labels *Labels) []Line {
	ends := endings(events)
	var lines []Line
	for _, e := range events {
		l := Line{N: e.N, AtUS: e.AtUS, job: e.Job}
		switch e.Kind {
		case history.Invoke:
			end, ended := ends[e.Call]
			l.Lane, l.What, l.Outcome = "client", operationText(e, labels), outcomeText(end, ended, labels)
			if e.Actor != "" {
				l.Lane = e.Actor
			}
			l.job = firstOf(e.Job, end.Job)
			l.weight = aRead
			switch e.Op {
			case history.OpSubmit, history.OpStart, history.OpCancel, history.OpCancelAttempt, history.OpRelease, history.OpResolve:
				l.weight = aWrite
			}
		case history.Arrive:
			l.Lane, l.What, l.weight = e.Actor, "receives the call of "+labels.Of(e.Attempt), aCall
		case history.Answer:
			l.Lane, l.What, l.Outcome, l.weight = e.Actor, "answers "+labels.Of(e.Attempt), answerText(e), aCall
		case history.Row:
			l.Lane = "postgres"
			l.What, l.Outcome = rowText(e, labels)
			l.weight = aRead
			if e.Op == history.TableEvents { // read long after it was written: its time says nothing
				l.weight = onlyAsProof
			}
		case history.Snapshot:
			end, ended := ends[e.Call]
			if end.N == e.N {
				continue // stands at the beginning of the read
			}
			l.Lane, l.What, l.weight = "postgres", "reads all "+e.Op, onlyAsProof
			if ended {
				var s history.SnapshotFacts
				_ = end.Decode(&s)
				l.Outcome = fmt.Sprintf("%d rows", s.Rows)
			}
		case history.Armed, history.Fired, history.Healed:
			l.Lane, l.What, l.weight = "fault", e.Op+" "+string(e.Kind), aFault
			l.Outcome = faultText(e)
			if e.Kind != history.Fired {
				l.weight = aRead
			}
		case history.Declared, history.Reached:
			l.Lane, l.What, l.weight = "harness", "probe "+e.Op+" "+string(e.Kind), aRead
		case history.Phase:
			l.Lane, l.What, l.weight = "harness", "phase "+e.Op, aRead
		case history.Edge:
			l.Lane, l.What, l.weight = e.Actor, e.Op, aRead
		case history.Note:
			l.Lane, l.What, l.weight = "harness", e.Op, aRead
			if e.Actor != "" {
				l.What += " " + e.Actor
			}
		default: // outcomes stand beside their operation
			continue
		}
		lines = append(lines, l)
	}
	return lines
}

// endings maps a call to the event that ends it: the outcome of an operation, or
// the end of a table read.
func endings(events []history.Event) map[int64]history.Event {
	ends := map[int64]history.Event{}
	for _, e := range events {
		switch e.Kind {
		case history.OK, history.Fail, history.Info:
			if _, known := ends[e.Call]; !known {
				ends[e.Call] = e
			}
		case history.Snapshot:
			var s history.SnapshotFacts
			if e.Decode(&s) == nil && s.Complete {
				ends[e.Call] = e
			}
		}
	}
	return ends
}

func operationText(e history.Event, labels *Labels) string {
	text := e.Op
	if e.Job != "" {
		text += " " + labels.Of(e.Job)
	}
	if e.Attempt != "" {
		name := labels.Of(e.Attempt)
		if !isID(e.Attempt) {
			name = "a" + e.Attempt
		}
		text += " " + name
	}
	if e.Key != "" {
		text += " key " + e.Key
	}
	return text
}

func outcomeText(end history.Event, ended bool, labels *Labels) string {
	if !ended {
		return "no answer"
	}
	switch end.Kind {
	case history.OK:
		text := fmt.Sprint(end.Status)
		var job history.Job
		switch end.Op {
		case history.OpSubmit, history.OpGet, history.OpCancel:
			if end.Decode(&job) != nil {
				return text
			}
			text += " " + labels.Of(firstOf(job.ID, end.Job))
			for _, more := range []string{job.Status, byText(job.CompletedBy, labels)} {
				if more != "" {
					text += " " + more
				}
			}
		case history.OpStart, history.OpRelease, history.OpResolve, history.OpCancelAttempt:
			var attempt history.Attempt
			if end.Decode(&attempt) == nil && attempt.ID != "" {
				text += " " + labels.Of(attempt.ID) + " " + attempt.State
			}
		}
		return text
	case history.Fail:
		var p history.Problem
		_ = end.Decode(&p)
		return strings.TrimSpace(fmt.Sprint(end.Status, " ", p.Type[strings.LastIndexByte(p.Type, '/')+1:]))
	}
	var why history.ErrorFacts
	_ = end.Decode(&why)
	if end.Status != 0 {
		return strings.TrimSpace(fmt.Sprintf("unknown: %d %s", end.Status, why.Error))
	}
	return strings.TrimSpace("unknown: " + why.Error)
}

func byText(attempt string, labels *Labels) string {
	if attempt == "" {
		return ""
	}
	return "by " + labels.Of(attempt)
}

func answerText(e history.Event) string {
	var a history.AnswerFacts
	_ = e.Decode(&a)
	text := ""
	if a.Status != 0 {
		text = fmt.Sprint(a.Status)
	}
	if a.Verdict != "" {
		text += " " + a.Verdict
	}
	if !a.Complete {
		text += " (cut)"
	}
	return strings.TrimSpace(text)
}

func faultText(e history.Event) string {
	var f history.FaultFacts
	_ = e.Decode(&f)
	return firstOf(f.Evidence, f.Detail)
}

func rowText(e history.Event, labels *Labels) (what, outcome string) {
	switch e.Op {
	case history.TableJobs:
		var j history.Job
		_ = e.Decode(&j)
		what = "job " + labels.Of(firstOf(j.ID, e.Job))
		switch {
		case j.Absent:
			outcome = "no row"
		case j.CompletedBy != "":
			outcome = "completed by " + labels.Of(j.CompletedBy)
		case j.CancelledAt != "":
			outcome = "cancelled"
		default:
			outcome = "open"
		}
		if j.Version != 0 {
			outcome += fmt.Sprintf(", version %d", j.Version)
		}
	case history.TableAttempts:
		var a history.Attempt
		_ = e.Decode(&a)
		what = "attempt " + labels.Of(firstOf(a.ID, e.Attempt))
		outcome = strings.TrimSpace(a.State + " " + a.Reason)
		if a.Absent {
			outcome = "no row"
		}
	case history.TableEvents:
		var m history.Move
		_ = e.Decode(&m)
		from, to := firstOf(m.From, m.FromState), firstOf(m.To, m.ToState)
		what = "trail " + labels.Of(firstOf(m.JobID, e.Job)) + " " + m.Type
		if to != "" {
			what = "trail " + labels.Of(firstOf(m.AttemptID, e.Attempt)) + " " + strings.TrimSpace(from+" -> "+to)
		}
		outcome = strings.TrimSpace(m.Actor + " " + m.Reason)
	case history.TableRaces:
		var r history.Race
		_ = e.Decode(&r)
		what = "race of " + labels.Of(firstOf(r.AttemptID, e.Attempt))
		outcome = strings.TrimSpace(r.Reason)
		if r.WinnerID != "" {
			outcome = "lost to " + labels.Of(r.WinnerID)
		}
	default:
		what = "row of " + e.Op
	}
	return what, outcome
}

// Excerpt chooses at most limit lines that tell a finding: those that prove it,
// and around them what else happened to the same job, in order.
func Excerpt(events []history.Event, finding invariant.Finding, labels *Labels, limit int) []Line {
	lines := Lines(events, labels)
	invoked := map[int64]int64{} // ending -> what it ends
	begun, ends := map[int64]int64{}, endings(events)
	for _, e := range events {
		if _, twice := begun[e.Call]; !twice && (e.Kind == history.Invoke || e.Kind == history.Snapshot) {
			begun[e.Call] = e.N
		}
	}
	for call, end := range ends {
		invoked[end.N] = begun[call]
	}
	proves := map[int64]bool{}
	here := int64(0)
	for _, n := range finding.Events {
		if at, ok := invoked[n]; ok {
			n = at
		}
		proves[n] = true
		here = n
	}
	said := map[string]string{}
	for i := range lines {
		l := &lines[i]
		l.Here = l.N == here
		repeats := l.weight == aRead && said[l.Lane+l.What] == l.Outcome
		said[l.Lane+l.What] = l.Outcome
		switch {
		case proves[l.N]:
			l.weight = proof
		case repeats: // somebody polls
			l.weight = onlyAsProof
		case l.Lane == "fault" && l.weight == aFault:
		case finding.Job != "" && l.job != finding.Job:
			l.weight += 10 // another job: only where there is room
		}
	}
	lines = slices.DeleteFunc(lines, func(l Line) bool { return l.weight > aRead })
	for len(lines) > limit {
		// leave out the heaviest line that is farthest from where it broke
		worst := 0
		for i, l := range lines {
			w := lines[worst]
			if l.weight > w.weight || l.weight == w.weight && distance(l.N, here) > distance(w.N, here) {
				worst = i
			}
		}
		lines = slices.Delete(lines, worst, worst+1)
	}
	return lines
}

func distance(a, b int64) int64 {
	if a > b {
		return a - b
	}
	return b - a
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
