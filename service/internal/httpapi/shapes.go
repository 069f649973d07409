package httpapi

import (
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/interlock-harness/interlock/service/internal/job"
)

// The shapes on the wire. A field that does not apply is absent.

type jobBody struct {
	ID          job.ID          `json:"id"`
	Key         job.Key         `json:"key"`
	Status      job.Status      `json:"status"`
	Version     int64           `json:"version"`
	Contract    string          `json:"contract"`
	Provider    string          `json:"provider"`
	Race        bool            `json:"race"`
	Result      json.RawMessage `json:"result,omitempty"`
	CompletedBy job.AttemptID   `json:"completed_by,omitempty"`
	CreatedAt   string          `json:"created_at"`
	CompletedAt string          `json:"completed_at,omitempty"`
	CancelledAt string          `json:"cancelled_at,omitempty"`
	Attempts    int             `json:"attempts"`
}

func shapeJob(j job.Job) jobBody {
	return jobBody{
		ID: j.ID, Key: j.Key, Status: j.Status, Version: j.Version,
		Contract: j.Intent.Contract, Provider: j.Intent.Provider, Race: j.Intent.Race,
		Result: j.Result, CompletedBy: j.CompletedBy, Attempts: j.Attempts,
		CreatedAt: stamp(j.CreatedAt), CompletedAt: stampOf(j.CompletedAt), CancelledAt: stampOf(j.CancelledAt),
	}
}

type attemptBody struct {
	ID         job.AttemptID `json:"id"`
	JobID      job.ID        `json:"job_id"`
	N          int           `json:"n"`
	Provider   string        `json:"provider"`
	State      job.State     `json:"state"`
	Reason     string        `json:"reason,omitempty"`
	StartedAt  string        `json:"started_at"`
	Since      string        `json:"since"`
	EndedAt    string        `json:"ended_at,omitempty"`
	TriggerKey job.Key       `json:"trigger_key,omitempty"`
}

func shapeAttempt(a job.Attempt) attemptBody {
	return attemptBody{
		ID: a.ID, JobID: a.JobID, N: a.N, Provider: a.Provider, State: a.State, Reason: a.Reason,
		StartedAt: stamp(a.StartedAt), Since: stamp(a.Since), EndedAt: stampOf(a.EndedAt), TriggerKey: a.TriggerKey,
	}
}

type eventBody struct {
	ID        int64           `json:"id"`
	At        string          `json:"at"`
	JobID     job.ID          `json:"job_id"`
	AttemptID job.AttemptID   `json:"attempt_id,omitempty"`
	N         int             `json:"n,omitempty"`
	Type      job.EventType   `json:"type"`
	From      job.State       `json:"from,omitempty"`
	To        job.State       `json:"to,omitempty"`
	Actor     string          `json:"actor,omitempty"`
	Reason    string          `json:"reason,omitempty"`
	Detail    json.RawMessage `json:"detail,omitempty"`
}

func shapeEvent(e job.Event) eventBody {
	return eventBody{
		ID: e.ID, At: stamp(e.At), JobID: e.Job, AttemptID: e.Attempt, N: e.N, Type: e.Type,
		From: e.From, To: e.To, Actor: e.Actor, Reason: e.Reason, Detail: e.Detail,
	}
}

type raceBody struct {
	ID            int64         `json:"id"`
	At            string        `json:"at"`
	JobID         job.ID        `json:"job_id"`
	AttemptID     job.AttemptID `json:"attempt_id"`
	N             int           `json:"n"`
	WinnerID      job.AttemptID `json:"winner_id,omitempty"`
	Reason        string        `json:"reason"`
	PayloadSHA256 string        `json:"payload_sha256"`
	PayloadBytes  int64         `json:"payload_bytes"`
	StartedAt     string        `json:"started_at"`
}

func shapeRace(r job.Race) raceBody {
	return raceBody{
		ID: r.ID, At: stamp(r.At), JobID: r.Job, AttemptID: r.Attempt, N: r.N, WinnerID: r.Winner, Reason: r.Reason,
		PayloadSHA256: hex.EncodeToString(r.PayloadSHA256[:]), PayloadBytes: r.PayloadBytes, StartedAt: stamp(r.StartedAt),
	}
}

func shapeAll[From, To any](list []From, shape func(From) To) []To {
	shaped := make([]To, 0, len(list))
	for _, v := range list {
		shaped = append(shaped, shape(v))
	}
	return shaped
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z07:00") }

func stampOf(t *time.Time) string {
	if t == nil {
		return ""
	}
	return stamp(*t)
}
