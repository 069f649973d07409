package plan

import (
	"context"
	"time"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/stage"
)

// Field says where plans are played.
type Field struct {
	PGURL     string // this PostgreSQL instead of a private one
	Toxiproxy string // this proxy instead of the one in the process
	Mutant    string // what the service runs with
	Plays     int    // how many there may be
	Recorder  *history.Recorder
	Note      func(string)
}

// Open sets the stage: one service of two replicas and one worker, with leases
// that pass within a play.
func (f Field) Open(ctx context.Context) (*stage.Stage, error) {
	s, err := stage.Start(ctx, stage.Options{
		PGURL: f.PGURL, Toxiproxy: f.Toxiproxy, Note: f.Note, Owners: 2 * f.Plays, Recorder: f.Recorder,
		Service: stage.ServiceOptions{
			Mutant: f.Mutant, Deadline: soon, Lease: 10 * soon, Heartbeat: 2 * soon, Reap: soon, HardLimit: 30 * time.Second,
		},
	})
	if err != nil {
		return nil, err
	}
	if _, err := s.Service(ctx); err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}
