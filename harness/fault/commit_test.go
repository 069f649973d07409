package fault_test

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/interlock-harness/interlock/harness/edge"
	"github.com/interlock-harness/interlock/harness/fault"
	"github.com/interlock-harness/interlock/harness/history"
)

func TestCommitFaultsFireAndHeal(t *testing.T) {
	s, url := database(t)
	relay, err := edge.NewPostgres(s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = relay.Close() }()
	through := strings.Replace(url, s.Addr(), relay.Addr(), 1)
	for name, c := range map[string]struct {
		arm  func(*history.Recorder, *edge.Postgres, edge.Victim) (*fault.Transaction, error)
		hold bool // nothing is lost
		kept bool // while the fault acts
	}{
		"ack-lost":       {arm: fault.AckLost, kept: true},
		"ack-half":       {arm: fault.AckHalf, kept: true},
		"ack-reset":      {arm: fault.AckReset, kept: true},
		"commit-lost":    {arm: fault.CommitLost},
		"hold-commit":    {arm: fault.HoldCommit, hold: true},
		"hold-ack":       {arm: fault.HoldAck, hold: true, kept: true},
		"hold-statement": {arm: fault.HoldStatement, hold: true},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, rec := bounded(t), history.New()
			f, err := c.arm(rec, relay, edge.Victim{Values: []string{name}})
			if err != nil {
				t.Fatal(err)
			}
			insert := "INSERT INTO jobs (id, owner, key) VALUES (gen_random_uuid(), '" + name + "', 'k')"
			done := make(chan error, 1)
			go func() { done <- try(ctx, through, "BEGIN; COMMIT") }() // not the victim
			if err := <-done; err != nil {
				t.Error(err)
			}
			go func() { done <- transaction(ctx, through, insert) }()
			if err := f.Await(ctx); err != nil {
				t.Fatal(err)
			}
			there := try(ctx, url, "DO $$ BEGIN ASSERT EXISTS (SELECT FROM jobs WHERE owner = '"+name+"'); END $$") == nil
			if there != c.kept {
				t.Errorf("the row is there: %v, want %v", there, c.kept)
			}
			if c.hold {
				f.Release()
			}
			if err := <-done; (err == nil) != c.hold {
				t.Errorf("the victim saw %v", err)
			}
			if err := f.Heal(ctx); err != nil {
				t.Error(err)
			}
			if err := transaction(ctx, through, strings.Replace(insert, "'k'", "'k-2'", 1)); err != nil {
				t.Errorf("after healing: %v", err)
			}
			lived(t, rec, name, true)
		})
	}
}

// transaction runs one statement between BEGIN and COMMIT.
func transaction(ctx context.Context, url, statement string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	for _, sql := range []string{"BEGIN", statement, "COMMIT"} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}
