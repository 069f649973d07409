package postgres_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/service/internal/job"
	"github.com/interlock-harness/interlock/service/internal/postgres"
)

// inState makes a job whose first attempt is in a state, by legal moves only.
func inState(t *testing.T, s *postgres.Store, key job.Key, state job.State) job.Claimed {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	j := submit(t, s, submission(key))
	c := job.Claimed{Job: j, Attempt: attemptsOf(t, s, j.ID)[0]}
	m := job.Move{Owner: job.AnyOwner, Job: j.ID, N: 1, Actor: "operator:o", Reason: "test"}
	if state == job.StateStarting {
		return c
	}
	c = claim(t, s, "w")
	switch state {
	case job.StateRunning:
	case job.StateSucceeded:
		must(s.Complete(ctx(t), settlement(c, "ok"), json.RawMessage(`"first"`)))
	case job.StateFailed:
		must(s.Fail(ctx(t), settlement(c, "refused.400")))
	case job.StateCancelled:
		_, err := s.CancelAttempt(ctx(t), m)
		must(err)
	default: // unknown, released, lost
		_, err := s.MarkUnknown(ctx(t), settlement(c, "deadline"))
		must(err)
		if state == job.StateUnknown {
			break
		}
		_, err = s.ReleaseAttempt(ctx(t), m)
		must(err)
		if state == job.StateReleased {
			break
		}
		_, _, err = s.StartAttempt(ctx(t), job.Start{Owner: "alice", Job: j.ID, Actor: "owner:alice"})
		must(err)
		must(s.Complete(ctx(t), settlement(claim(t, s, "w"), "ok"), json.RawMessage(`"second"`)))
		if err := s.Complete(ctx(t), settlement(c, "ok"), json.RawMessage(`"first"`)); !errors.Is(err, job.ErrLate) {
			t.Fatalf("the late result: %v", err)
		}
	}
	return c
}

var allStates = []job.State{job.StateStarting, job.StateRunning, job.StateUnknown, job.StateReleased,
	job.StateSucceeded, job.StateLost, job.StateFailed, job.StateCancelled}

// TestEveryMove tries each verb on an attempt in each state. What stands in the
// table is the state after it; a verb that is not listed must be refused and
// change nothing.
func TestEveryMove(t *testing.T) {
	s, _ := open(t, postgres.Options{})
	by := func(c job.Claimed) job.Move {
		return job.Move{Owner: job.AnyOwner, Job: c.Job.ID, N: 1, Actor: "operator:o", Reason: "test"}
	}
	resolve := func(c job.Claimed, o job.Outcome) error {
		_, err := s.ResolveAttempt(ctx(t), job.Resolution{Move: by(c), Outcome: o, Result: json.RawMessage(`"resolved"`), Evidence: "ticket 7"})
		return err
	}
	for verb, v := range map[string]struct {
		do    func(c job.Claimed) error
		legal map[job.State]job.State
		err   error               // of a refusal
		races map[job.State]int64 // race rows of the job after the verb, where not 0 (lost has one before)
	}{
		"claim": {
			do: func(job.Claimed) error {
				got, err := s.Claim(ctx(t), "w2", time.Minute, 10)
				if err == nil && len(got) != 1 {
					err = job.ErrLate
				}
				return err
			},
			legal: map[job.State]job.State{job.StateStarting: job.StateRunning},
			err:   job.ErrLate,
			races: map[job.State]int64{job.StateLost: 1},
		},
		"complete": {
			do: func(c job.Claimed) error {
				return s.Complete(ctx(t), settlement(c, "ok"), json.RawMessage(`"again"`))
			},
			legal: map[job.State]job.State{job.StateRunning: job.StateSucceeded, job.StateUnknown: job.StateSucceeded, job.StateReleased: job.StateSucceeded,
				job.StateSucceeded: job.StateSucceeded}, // the same settlement once more: no error, no move
			err:   job.ErrLate,
			races: map[job.State]int64{job.StateStarting: 1, job.StateLost: 1, job.StateFailed: 1, job.StateCancelled: 1},
		},
		"fail": {
			do: func(c job.Claimed) error { return s.Fail(ctx(t), settlement(c, "refused.400")) },
			legal: map[job.State]job.State{job.StateStarting: job.StateFailed, job.StateRunning: job.StateFailed,
				job.StateUnknown: job.StateFailed, job.StateReleased: job.StateFailed},
			err:   job.ErrAttemptTerminal,
			races: map[job.State]int64{job.StateLost: 1},
		},
		"mark unknown": {
			do: func(c job.Claimed) error {
				_, err := s.MarkUnknown(ctx(t), settlement(c, "deadline"))
				return err
			},
			legal: map[job.State]job.State{job.StateRunning: job.StateUnknown,
				job.StateUnknown: job.StateUnknown, job.StateReleased: job.StateReleased, job.StateStarting: job.StateStarting}, // no error, no move
			err:   job.ErrAttemptTerminal,
			races: map[job.State]int64{job.StateLost: 1},
		},
		"release": {
			do:    func(c job.Claimed) error { _, err := s.ReleaseAttempt(ctx(t), by(c)); return err },
			legal: map[job.State]job.State{job.StateUnknown: job.StateReleased},
			err:   job.ErrNotReleasable,
			races: map[job.State]int64{job.StateLost: 1},
		},
		"cancel": {
			do: func(c job.Claimed) error { _, err := s.CancelAttempt(ctx(t), by(c)); return err },
			legal: map[job.State]job.State{job.StateStarting: job.StateCancelled, job.StateRunning: job.StateCancelled,
				job.StateUnknown: job.StateCancelled, job.StateReleased: job.StateCancelled},
			err:   job.ErrAttemptTerminal,
			races: map[job.State]int64{job.StateLost: 1},
		},
		"resolve as succeeded": {
			do:    func(c job.Claimed) error { return resolve(c, job.OutcomeSucceeded) },
			legal: map[job.State]job.State{job.StateUnknown: job.StateSucceeded, job.StateReleased: job.StateSucceeded},
			err:   job.ErrNotUnknown,
			races: map[job.State]int64{job.StateLost: 1},
		},
		"resolve as failed": {
			do:    func(c job.Claimed) error { return resolve(c, job.OutcomeFailed) },
			legal: map[job.State]job.State{job.StateUnknown: job.StateFailed, job.StateReleased: job.StateFailed},
			err:   job.ErrNotUnknown,
			races: map[job.State]int64{job.StateLost: 1},
		},
		"reap": {
			do: func(c job.Claimed) error {
				n, err := s.ReapLeases(ctx(t))
				if err == nil && n != 0 {
					err = fmt.Errorf("reaped %d attempts whose lease has not passed", n)
				}
				return err
			},
			legal: map[job.State]job.State{job.StateStarting: job.StateStarting, job.StateRunning: job.StateRunning, job.StateUnknown: job.StateUnknown, job.StateReleased: job.StateReleased,
				job.StateSucceeded: job.StateSucceeded, job.StateLost: job.StateLost, job.StateFailed: job.StateFailed, job.StateCancelled: job.StateCancelled},
			races: map[job.State]int64{job.StateLost: 1},
		},
	} {
		for i, state := range allStates {
			t.Run(verb+" an attempt that is "+string(state), func(t *testing.T) {
				c := inState(t, s, job.Key(fmt.Sprintf("%s %d", verb, i)), state)
				before := jobOf(t, s, c.Job.ID)
				err := v.do(c)
				want, legal := v.legal[state]
				if legal && err != nil {
					t.Errorf("refused: %v", err)
				}
				if !legal {
					want = state
					if !errors.Is(err, v.err) {
						t.Errorf("got %v, want %v", err, v.err)
					}
				}
				if got := attemptsOf(t, s, c.Job.ID)[0]; got.State != want {
					t.Errorf("state is %s, want %s", got.State, want)
				} else if (got.EndedAt != nil) != want.Terminal() {
					t.Errorf("ended at %v in state %s", got.EndedAt, want)
				}
				after := jobOf(t, s, c.Job.ID)
				if want == state && (after.Version != before.Version || string(after.Result) != string(before.Result)) {
					t.Errorf("the job changed: %+v became %+v", before, after)
				}
				races, err := s.Races(ctx(t), "alice", job.RaceFilter{Job: c.Job.ID})
				if err != nil || int64(len(races)) != v.races[state] {
					t.Errorf("%d races, want %d, %v", len(races), v.races[state], err)
				}
				// leave nothing for the next claim
				_, _ = s.CancelJob(ctx(t), job.Move{Owner: job.AnyOwner, Job: c.Job.ID, Actor: "test"})
			})
		}
	}
}

func TestAWrongFenceMovesNothing(t *testing.T) {
	s, _ := open(t, postgres.Options{})
	c := running(t, s, submission("k"))
	wrong := settlement(c, "ok")
	wrong.Fence++
	if err := s.Complete(ctx(t), wrong, json.RawMessage(`1`)); err == nil || errors.Is(err, job.ErrLate) {
		t.Errorf("complete: %v", err)
	}
	if err := s.Fail(ctx(t), wrong); !errors.Is(err, job.ErrAttemptTerminal) {
		t.Errorf("fail: %v", err)
	}
	if state, err := s.MarkUnknown(ctx(t), wrong); err != nil || state != job.StateRunning {
		t.Errorf("mark unknown: %s, %v", state, err)
	}
	if got := states(t, s, c.Job.ID); got != "running " {
		t.Errorf("the attempt is %s", got)
	}
	if races, err := s.Races(ctx(t), "alice", job.RaceFilter{}); err != nil || len(races) != 0 {
		t.Errorf("races: %v, %v", races, err)
	}
}

// The database itself refuses what no statement of the store would do.
func TestConstraintsRefuseByName(t *testing.T) {
	s, url := open(t, postgres.Options{})
	if err := s.PutCredentials(ctx(t), []job.Credential{{Owner: "alice", Role: job.RoleOwner}}); err != nil {
		t.Fatal(err)
	}
	c := inState(t, s, "done", job.StateSucceeded)
	lost := inState(t, s, "lost", job.StateLost)
	open := inState(t, s, "open", job.StateRunning)
	refused := map[string]string{
		`INSERT INTO jobs (id, owner, key, fingerprint, fingerprint_algorithm, request, intent) SELECT gen_random_uuid(), owner, key, fingerprint, 1, request, intent FROM jobs`:                               "jobs_owner_key",
		`INSERT INTO attempts (id, job_id, n, provider, state, deadline_ms) SELECT gen_random_uuid(), job_id, 9, 'q', 'starting', 1 FROM attempts WHERE id = '` + string(open.Attempt.ID) + `'`:                "one_open_attempt_per_job",
		`INSERT INTO attempts (id, job_id, n, provider, state, deadline_ms, ended_at) SELECT gen_random_uuid(), job_id, 9, 'q', 'succeeded', 1, now() FROM attempts WHERE id = '` + string(c.Attempt.ID) + `'`: "one_winner_per_job",
		`INSERT INTO attempts (id, job_id, n, provider, state, deadline_ms) SELECT gen_random_uuid(), job_id, 1, 'q', 'released', 1 FROM attempts WHERE id = '` + string(open.Attempt.ID) + `'`:                "attempts_job_n",
		`UPDATE attempts SET n = 0 WHERE id = '` + string(open.Attempt.ID) + `'`:                                                                                              "attempts_count_from_one",
		`UPDATE attempts SET state = 'finished' WHERE id = '` + string(open.Attempt.ID) + `'`:                                                                                 "state_is_known",
		`UPDATE attempts SET state = 'succeeded' WHERE id = '` + string(open.Attempt.ID) + `'`:                                                                                "terminal_has_ended",
		`UPDATE attempts SET lease_until = NULL WHERE id = '` + string(open.Attempt.ID) + `'`:                                                                                 "running_is_leased",
		`UPDATE attempts SET state = 'succeeded' WHERE id = '` + string(lost.Attempt.ID) + `'`:                                                                                "terminal_attempt_is_frozen",
		`UPDATE jobs SET result = '2' WHERE id = '` + string(c.Job.ID) + `'`:                                                                                                  "finished_job_is_frozen",
		`UPDATE jobs SET version = version WHERE id = '` + string(c.Job.ID) + `'`:                                                                                             "finished_job_is_frozen",
		`DELETE FROM jobs WHERE id = '` + string(c.Job.ID) + `'`:                                                                                                              "finished_job_is_frozen",
		`UPDATE jobs SET result = '2' WHERE id = '` + string(open.Job.ID) + `'`:                                                                                               "result_is_whole",
		`UPDATE jobs SET result = '2', completed_by = '` + string(c.Attempt.ID) + `', completed_at = now() WHERE id = '` + string(open.Job.ID) + `'`:                          "completed_by_is_an_attempt",
		`UPDATE jobs SET result = '2', completed_by = '` + string(open.Attempt.ID) + `', completed_at = now(), cancelled_at = now() WHERE id = '` + string(open.Job.ID) + `'`: "finished_once",
		`UPDATE jobs SET fingerprint = '' WHERE id = '` + string(open.Job.ID) + `'`:                                                                                           "fingerprint_is_sha256",
		`UPDATE jobs SET owner = '*' WHERE id = '` + string(open.Job.ID) + `'`:                                                                                                "owner_is_named",
		`UPDATE jobs SET intent = NULL WHERE id = '` + string(open.Job.ID) + `'`:                                                                                              "purged_is_empty",
		`UPDATE attempts SET state = 'starting' WHERE id = '` + string(open.Attempt.ID) + `'`:                                                                                 "attempt_moves_legally",
		`INSERT INTO attempts (id, job_id, n, provider, state, deadline_ms, trigger_key, trigger_fingerprint)
			SELECT gen_random_uuid(), job_id, 8 + i, 'q', 'released', 1, 'click', '' FROM attempts, generate_series(1, 2) i WHERE id = '` + string(open.Attempt.ID) + `'`: "attempts_trigger_key",
		`INSERT INTO races (job_id, attempt_id, reason, payload_sha256, payload_bytes, started_at, operation_id)
			SELECT job_id, attempt_id, reason, payload_sha256, payload_bytes, started_at, operation_id FROM races`: "one_race_per_attempt",
		`INSERT INTO attempts (id, job_id, n, provider, state, deadline_ms) VALUES (gen_random_uuid(), gen_random_uuid(), 1, 'q', 'starting', 1)`: "attempts_job_id_fkey",
		`UPDATE credentials SET sha256 = ''`:    "credential_is_sha256",
		`UPDATE credentials SET owner = '*'`:    "credential_owner_is_named",
		`UPDATE credentials SET role = 'admin'`: "credential_role_is_known",
	}
	for statement, constraint := range refused {
		refusedBy(t, url, statement, constraint)
	}
	tested := slices.Collect(maps.Values(refused))
	for _, name := range constraintsOf(t, url) {
		if !slices.Contains(tested, name) && name != "attempts_id_job" { // which holds because id alone is unique, and is there for completed_by_is_an_attempt
			t.Errorf("nothing shows that %s refuses anything", name)
		}
	}
}

// constraintsOf names what the schema refuses by a name of ours: all but primary
// keys, and what is given by a column's type.
func constraintsOf(t *testing.T, url string) []string {
	t.Helper()
	names := strings.Fields(value[string](t, url, `
		SELECT string_agg(name, ' ') FROM (
			SELECT conname AS name FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND contype IN ('c', 'u', 'f')
			UNION SELECT indexrelid::regclass::text FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
				WHERE indisunique AND NOT indisprimary AND relnamespace = 'public'::regnamespace
			UNION SELECT tgname FROM pg_trigger WHERE NOT tgisinternal
		) all_of_them`))
	if len(names) < 20 {
		t.Fatalf("only %d constraints were found: %v", len(names), names)
	}
	return names
}
