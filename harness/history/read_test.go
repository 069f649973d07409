package history_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/harness/history"
)

// sample is a small history of every helper.
func sample() *history.Recorder {
	rec := history.New()
	s := rec.Child("lost-response-retry")
	s.Phase(history.PhaseMain, history.PhaseFacts{})
	fault := s.Armed("cut", history.FaultFacts{Edge: "client-api", Detail: "0 bytes of the answer"})
	s.Declare("row-is-there")
	first := s.Invoke(history.Op{Actor: "client-1", Op: history.OpSubmit, Owner: "o", Key: "k", Data: history.SubmitFacts{Intent: []byte(`{"contract":"<b>"}`)}})
	s.Reach("row-is-there", "seen in jobs")
	fault.Fired("0 of 214 bytes passed")
	first.Info(0, bytes.ErrTooLarge)
	fault.Healed()
	call := s.Arrived("openai-demo", "j", "a", history.ArriveFacts{})
	call.Answered(history.AnswerFacts{Status: 200, Verdict: history.Accept, Complete: true})
	read := s.Reading(history.TableJobs, "o")
	read.JobRow("o", "k", "j", history.Job{ID: "j", Version: 1, Xmin: "7"})
	read.Done()
	s.Certified(history.CertifiedFacts{Provider: "anthropic-demo", Valid: true})
	s.Resources("api-1", history.ResourceFacts{Goroutines: 7})
	s.Edge("client-1", "open", nil)
	return rec
}

func TestReadGivesBackWhatWasWritten(t *testing.T) {
	events := sample().Events()
	var file bytes.Buffer
	if err := history.Write(&file, events); err != nil {
		t.Fatal(err)
	}
	again, err := history.Read(bytes.NewReader(file.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	var second bytes.Buffer
	if err := history.Write(&second, again); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(file.Bytes(), second.Bytes()) {
		t.Errorf("read and written again it differs:\n%s\n%s", file.Bytes(), second.Bytes())
	}
	faults := history.Faults(again)
	if len(faults) != 1 || len(faults[0].Fired) != 1 || faults[0].Healed.N == 0 {
		t.Errorf("faults %+v, want one that was armed, fired and healed", faults)
	}
	calls := history.ProviderCalls(again)
	if len(calls) != 1 || !calls[0].Answered() || calls[0].Answer.Attempt != "a" {
		t.Errorf("provider calls %+v, want one with its answer", calls)
	}
	ops := history.Operations(again)
	if len(ops) != 1 || ops[0].Kind() != history.Info || !ops[0].Ended() {
		t.Errorf("operations %+v, want one of unknown outcome", ops)
	}
	var row history.Job
	for _, e := range again {
		if e.Kind == history.Row {
			if err := e.Decode(&row); err != nil {
				t.Fatal(err)
			}
		}
	}
	if row.Xmin != "7" || row.Version != 1 {
		t.Errorf("row %+v", row)
	}
}

func TestReadTakesWhateverWasRecorded(t *testing.T) {
	hostile := []string{"<script>&", "quote\" back\\slash", "\x1b[2J\x00\x7f", "\u2028\u2029\ufeff\u202e", "\xff\xfe half \xc3", "\ufffd", "línea\n\r\t", ""}
	rec := history.New()
	for _, s := range hostile {
		call := rec.Invoke(history.Op{Actor: s, Op: s + "x", Owner: s, Key: s, Job: s, Attempt: s, Data: history.RequestFacts{Reason: s}})
		call.OK(200, s, s, []byte(`{ "raw": "`+"\xff\u2028<"+`" }`))
	}
	if err := rec.Flush(); err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := history.Write(&file, rec.Events()); err != nil {
		t.Fatal(err)
	}
	again, err := history.Read(bytes.NewReader(file.Bytes()))
	if err != nil {
		t.Fatalf("%v\n%s", err, file.Bytes())
	}
	for i, e := range rec.Events() {
		if again[i].Owner != e.Owner || again[i].Key != e.Key || string(again[i].Data) != string(e.Data) {
			t.Errorf("event %d is %+v, was %+v", e.N, again[i], e)
		}
	}
}

func TestReadNamesTheLineThatIsWrong(t *testing.T) {
	const first = `{"n":1,"at_us":5,"kind":"note"}` + "\n"
	for _, c := range []struct{ name, text, want string }{
		{"no JSON", first + "nonsense\n", "line 2: invalid character"},
		{"half a line", first + `{"n":2,"at_us":6`, "line 2: unexpected end"},
		{"a field of its own", first + `{"n":2,"at_us":6,"kind":"note","x":1}` + "\n", "line 2: not in the form"},
		{"two values", first + `{"n":2,"at_us":6,"kind":"note"} {}` + "\n", "line 2: invalid character"},
		{"a field twice", first + `{"n":2,"at_us":6,"kind":"ok","kind":"note"}` + "\n", "line 2: not in the form"},
		{"a field in other case", first + `{"N":2,"at_us":6,"kind":"note"}` + "\n", "line 2: not in the form"},
		{"a kind of its own", first + `{"n":2,"at_us":6,"kind":"pass"}` + "\n", `line 2: unknown kind "pass"`},
		{"a number missing", first + `{"n":3,"at_us":6,"kind":"note"}` + "\n", "line 2: event 3 after event 1"},
		{"a number twice", first + first, "line 2: event 1 after event 1"},
		{"time running back", first + `{"n":2,"at_us":4,"kind":"note"}` + "\n", "line 2: event 2 lies 1 us before"},
		{"data that is a list", first + `{"n":2,"at_us":6,"kind":"note","data":[]}` + "\n", "line 2: not in the form"},
		{"a status out of range", first + `{"n":2,"at_us":6,"kind":"ok","status":1000}` + "\n", "line 2: a status out of range"},
		{"a line without end", first + strings.Repeat("x", history.MaxLine+1), "line 2: longer than"},
		{"an empty line", first + "\n" + first, "line 2: unexpected end"},
		{"spaces", first + `{"n": 2,"at_us":6,"kind":"note"}` + "\n", "line 2: not in the form"},
		{"an empty field", first + `{"n":2,"at_us":6,"lane":"","kind":"note"}` + "\n", "line 2: not in the form"},
		{"a zero that stands", first + `{"n":2,"at_us":6,"kind":"ok","status":0}` + "\n", "line 2: not in the form"},
		{"a leading zero", first + `{"n":02,"at_us":6,"kind":"note"}` + "\n", "line 2: invalid character"},
		{"a negative time", first + `{"n":2,"at_us":-6,"kind":"note"}` + "\n", "line 2: not in the form"},
		{"bytes that are no UTF-8", first + "{\"n\":2,\"at_us\":6,\"kind\":\"note\",\"op\":\"\xff\"}\n", "line 2: not in the form"},
		{"an escape that is not needed", first + `{"n":2,"at_us":6,"kind":"note","op":"\u0061"}` + "\n", "line 2: not in the form"},
		{"two objects as data", first + `{"n":2,"at_us":6,"kind":"note","data":{},"data":{}}` + "\n", "line 2: not in the form"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := history.Read(strings.NewReader(c.text))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

func FuzzReadNeverPanics(f *testing.F) {
	var file bytes.Buffer
	if err := history.Write(&file, sample().Events()); err != nil {
		f.Fatal(err)
	}
	f.Add(file.Bytes())
	f.Add([]byte(`{"n":1,"at_us":0,"kind":"row","data":{"a":1e400}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		events, err := history.Read(bytes.NewReader(text))
		if err != nil {
			return
		}
		history.Operations(events)
		history.ProviderCalls(events)
		history.Faults(events)
	})
}
