package plan

import (
	"context"

	"github.com/interlock-harness/interlock/harness/edge"
	"github.com/interlock-harness/interlock/harness/fault"
	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/stage"
	"github.com/interlock-harness/interlock/providers/standin"
)

// fault puts one fault in place. What it hits comes with a later step.
func (y *play) fault(ctx context.Context, s Step) error {
	switch s.Edge() {
	case fault.Processes:
		return y.process(ctx, s.Do)
	case fault.WorkerProvider:
		return y.provider(ctx, y.job(s.Job), s.Do, s.N)
	case fault.APIPostgres:
		return y.database(ctx, y.job(s.Job), s.Do)
	}
	return y.client(ctx, y.job(s.Job), s.Do)
}

// client breaks the next submit of the job.
func (y *play) client(ctx context.Context, j *job, do Verb) (err error) {
	switch do {
	case LostResponse:
		j.through, err = y.w.LostResponse(ctx)
	case LostRequest:
		j.through, err = y.w.LostRequest(ctx)
	case Duplicate:
		y.w.Duplicate(y.w.Key(j.name), edge.Both)
	}
	return err
}

// database breaks the next transaction of the job, or holds its row.
func (y *play) database(ctx context.Context, j *job, do Verb) (err error) {
	victim := stage.Victim(y.w.Key(j.name))
	if j.id != "" {
		y.settled(ctx, j) // so that it is what a later step causes, and no deadline that passes
		victim = stage.Victim(j.id)
	}
	switch do {
	case AckLost:
		_, err = y.w.AckLost(victim)
	case CommitLost:
		_, err = y.w.CommitLost(victim)
	case HoldCommit:
		if j.commit != nil {
			return nil
		}
		if j.id != "" {
			victim = stage.VictimOf("INSERT INTO attempts", j.id)
		}
		j.commit, err = y.w.HoldCommit(victim)
	case LockJob:
		if j.id == "" || j.lock != nil {
			return nil
		}
		j.lock, err = y.w.LockJob(ctx, j.id)
	}
	return err
}

// provider says what becomes of the job's next call: attempt n is the one that
// comes next, since those before are settled.
func (y *play) provider(ctx context.Context, j *job, do Verb, n int) error {
	if j.id != "" {
		y.settled(ctx, j)
	}
	next := stage.Match{Text: j.name, Nth: 1}
	provider := y.w.Provider(stage.OpenAI)
	switch do {
	case Stall:
		if n == 0 {
			j.stall = true // its gates come with the attempts
			return nil
		}
		y.stall(j, n)
	case Refuse:
		provider.Fails(next, 400)
	case BreakOff:
		provider.Script(next, standin.Answer{Cut: &standin.Point{Bytes: 20}}, history.Unknown)
	case Reject:
		provider.Script(next, standin.Says(`{"queue":"nowhere"}`), history.Reject)
	}
	return nil
}

// stall holds the next call of the job, that of attempt n.
func (y *play) stall(j *job, n int) {
	if j.gates[n] != nil {
		return
	}
	j.gates[n], j.last = y.w.Provider(stage.OpenAI).MayHold(stage.Match{Text: j.name, Nth: 1}), max(j.last, n)
	j.stalls[n] = y.w.Recorder.Armed("provider-stall", history.FaultFacts{Edge: fault.WorkerProvider, Detail: "the next call of job " + j.name + " is held"})
}

// stallNext holds the next call of a job whose every call is held. A gate that
// nobody came to, since its attempt was refused, serves the next attempt.
func (y *play) stallNext(j *job) {
	if !j.stall {
		return
	}
	if g := j.gates[j.last]; g != nil {
		select {
		case <-g.Arrived():
		default:
			return
		}
	}
	y.stall(j, j.last+1)
}

// process kills a process and starts it again, or stops it until its leases have
// passed.
func (y *play) process(ctx context.Context, do Verb) error {
	var f fault.Fault
	var err error
	switch do {
	case KillWorker:
		f, err = y.w.Kill(y.w.Service.Worker(1))
	case KillAPI:
		f, err = y.w.Kill(y.w.Service.Replica(1))
	case PauseWorker:
		f, err = y.w.Pause(ctx, y.w.Service.Worker(1))
	}
	if err != nil {
		return err
	}
	if do == PauseWorker {
		for _, j := range y.jobs {
			if j.id != "" {
				y.settled(ctx, j)
			}
		}
	}
	return f.Heal(ctx)
}
