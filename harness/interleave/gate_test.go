package interleave

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/harness/edge"
	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/target"
)

const job = "01a22d78-5284-7c41-9cbe-90b7136eb7e3"

func inBinary(uuid string) []byte {
	raw, _ := hex.DecodeString(strings.ReplaceAll(uuid, "-", ""))
	return raw
}

func TestAStatementIsKnownByWhatItNames(t *testing.T) {
	names := namesOf([]string{"w0123456789ab-a", "owner-7", job, "42"})
	for text, st := range map[string]edge.Statement{
		"the key in the text":   {SQL: "SELECT 1 FROM jobs WHERE key = 'w0123456789ab-a'"},
		"the key in a document": {SQL: "INSERT", Values: [][]byte{[]byte(`{"key":"w0123456789ab-a"}`)}},
		"the owner":             {SQL: "SELECT", Values: [][]byte{[]byte("x"), []byte("owner-7")}},
		"a UUID in binary":      {SQL: "SELECT", Values: [][]byte{inBinary(job)}},
		"a UUID in an array":    {SQL: "SELECT", Values: [][]byte{append([]byte{0, 0, 0, 1, 0, 0, 0, 16}, inBinary(job)...)}},
		"a number as text":      {SQL: "SELECT", Values: [][]byte{[]byte("42")}},
		"a number in binary":    {SQL: "SELECT", Values: [][]byte{{0, 0, 0, 42}}},
		"a number of 8 bytes":   {SQL: "SELECT", Values: [][]byte{{0, 0, 0, 0, 0, 0, 0, 42}}},
		"a number in the text":  {SQL: "UPDATE jobs SET x = 1 WHERE id=42"},
	} {
		if !mentions(st, names) {
			t.Errorf("%s is not seen", text)
		}
	}
	for text, st := range map[string]edge.Statement{
		"nothing":              {SQL: "SELECT id FROM attempts WHERE state = 'starting' LIMIT 16 FOR UPDATE SKIP LOCKED"},
		"another owner":        {SQL: "SELECT", Values: [][]byte{[]byte("owner-77")}},
		"another UUID":         {SQL: "SELECT", Values: [][]byte{inBinary("01a22d78-5284-7c41-9cbe-90b7136eb7e4")}},
		"another number":       {SQL: "SELECT", Values: [][]byte{[]byte("421"), {0, 0, 0, 43}, {42}}},
		"a number in a number": {SQL: "UPDATE jobs SET x = 420 WHERE id = 142"},
		"NULL":                 {SQL: "SELECT", Values: [][]byte{nil}},
	} {
		if mentions(st, names) {
			t.Errorf("%s is taken for ours", text)
		}
	}
}

func TestAStatementBelongsToTheOneThatTheServiceIsAtWorkOn(t *testing.T) {
	named := edge.Statement{Conn: 1, SQL: "UPDATE jobs SET a = $1 WHERE id = $2", Values: [][]byte{nil, inBinary(job)}}
	heartbeat := edge.Statement{Conn: 9, SQL: "UPDATE attempts SET lease = $1 WHERE id = $2", Values: [][]byte{nil, inBinary(job)}}
	commit := edge.Statement{Conn: 1, SQL: "commit"}
	for name, c := range map[string]struct {
		states [2]state
		st     edge.Statement
		before func(*gate)
		want   int // 2 for nobody
	}{
		"the first is at work":                {[2]state{thinking, standing}, named, nil, 0},
		"the second is at work":               {[2]state{standing, thinking}, named, nil, 1},
		"one at work goes before one aside":   {[2]state{aside, thinking}, named, nil, 1},
		"one aside, nobody at work":           {[2]state{standing, aside}, named, nil, 1},
		"nobody is at work":                   {[2]state{standing, waiting}, named, nil, 2},
		"it names nothing":                    {[2]state{thinking, standing}, commit, nil, 2},
		"it names nothing in its transaction": {[2]state{standing, thinking}, commit, func(g *gate) { g.owner[1] = g.sessions[1] }, 1},
		"it comes unasked":                    {[2]state{thinking, standing}, heartbeat, func(g *gate) { g.background[plain(heartbeat.SQL)] = true }, 2},
		"an answer that seemed to be over":    {[2]state{standing, ended}, named, func(g *gate) { g.sessions[1].last, g.sessions[1].request = 1, false }, 1},
		"a request that is over":              {[2]state{standing, ended}, named, func(g *gate) { g.sessions[1].last, g.sessions[1].request = 1, true }, 2},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGate()
			g.names = namesOf([]string{job})
			g.sessions = []*session{{state: c.states[0]}, {index: 1, state: c.states[1]}}
			if c.before != nil {
				c.before(g)
			}
			got := 2
			if s := g.whose(c.st); s != nil {
				got = s.index
			}
			if got != c.want {
				t.Errorf("it belongs to %d, want %d", got, c.want)
			}
		})
	}
}

// A heartbeat is learnt where it is alone in its transaction; the first statement of
// a longer one is not, since the two may begin with the same.
func TestWhatComesUnaskedIsLearnt(t *testing.T) {
	st := edge.Statement{Conn: 3, SQL: "UPDATE attempts SET lease = 'x' WHERE id = $1", Values: [][]byte{inBinary(job)}}
	for name, c := range map[string]struct {
		after func(*gate)
		want  bool
	}{
		"alone":                 {func(g *gate) { g.Answer(3, true, nil) }, true},
		"in a transaction":      {func(g *gate) { g.Answer(3, false, nil) }, false},
		"before another":        {func(g *gate) { g.Leave(edge.Statement{Conn: 3, SQL: "commit"}, nil); g.Answer(3, true, nil) }, false},
		"on a connection's end": {func(g *gate) { g.Gone(3); g.Answer(3, true, nil) }, false},
	} {
		g := newGate()
		g.resting[&scene{}] = namesOf([]string{job})
		g.Leave(st, nil)
		c.after(g)
		if got := g.background[plain(st.SQL)]; got != c.want {
			t.Errorf("%s: learnt %v, want %v (%v)", name, got, c.want, g.background)
		}
	}
}

func TestAUUIDIsToldFromOtherSixteenBytes(t *testing.T) {
	for value, want := range map[string]string{
		string(inBinary(job)): job,
		job:                   job,
		"sixteen letters.":    "", // a text
		string([]byte{0, 0, 0, 0, 0, 30, 132, 128, 0, 0, 0, 0, 0, 0, 0, 0}): "", // an interval of 2 seconds
		"": "",
	} {
		if got := uuidOf([]byte(value)); got != want {
			t.Errorf("%q is %q, want %q", value, got, want)
		}
	}
}

func TestStatementsAreNamed(t *testing.T) {
	for sql, want := range map[string]string{
		"SELECT j.id FROM jobs j WHERE id = $1 FOR NO KEY UPDATE OF j":       "lock jobs",
		"select id from jobs where key = 'it''s' -- from nowhere":            "read jobs",
		"WITH w AS (UPDATE attempts SET a = 1) INSERT INTO attempt_events":   "update attempts",
		"INSERT INTO jobs (id) VALUES ($1)":                                  "insert jobs",
		"/* UPDATE x */ DELETE FROM jobs":                                    "delete jobs",
		"UPDATE \"jobs\" SET a = (SELECT 1 FROM x FOR UPDATE)":               "update jobs",
		"SELECT pg_advisory_xact_lock(7)":                                    "select",
		"COMMIT":                                                             "commit",
		"WITH p AS (SELECT 1 FROM attempts FOR UPDATE SKIP LOCKED) SELECT 1": "lock attempts",
		"": "nothing",
	} {
		if got := describe(sql); got != want {
			t.Errorf("%q is %q, want %q", sql, got, want)
		}
	}
	if a, b := plain("SELECT  1 FROM t WHERE k='a''b' AND n=12"), plain("SELECT 2\nFROM t -- x\nWHERE k='c' AND n=345"); a != b {
		t.Errorf("%q and %q are of one kind", a, b)
	}
}

func TestSetsAreThoseThatTheTargetOffers(t *testing.T) {
	all, none := Sets(nil, true)
	if len(all) != len(sets) || len(none) != 0 {
		t.Errorf("with everything %d are played and %d left out, of %d", len(all), len(none), len(sets))
	}
	some, out := Sets(nil, false)
	if len(some)+len(out) != len(sets) || len(out) != 13 {
		t.Errorf("without an operator %d are played and %v left out", len(some), out)
	}
	a := &target.Adapter{Paths: map[string]string{history.OpStart: "-", history.OpCancel: "-", history.OpAttempts: "-"}}
	if some, _ := Sets(a, true); len(some) != 3 { // what needs submit, cancel-attempt and the provider
		t.Errorf("of a target with little, %v are played", some)
	}
}

func TestSchedulesAreReadAsTheyAreWritten(t *testing.T) {
	for _, s := range sets {
		got, picks, err := ParseSchedule(scheduleText(s, []step{{session: 0}, {session: 1}, {session: 1}}))
		if err != nil || got != s || len(picks) != 3 || picks[0] != 0 || picks[1] != 1 || picks[2] != 1 {
			t.Errorf("%s: %v %v %v", s, got, picks, err)
		}
	}
	for _, text := range []string{"", "new/submit+submit", "new/submit+submit:", "new/submit+submit:012", "old/submit+submit:01", "new/submit+complete:01"} {
		if _, _, err := ParseSchedule(text); err == nil {
			t.Errorf("%q is taken for a schedule", text)
		}
	}
}
