package fault

import (
	"context"

	"github.com/interlock-harness/interlock/harness/edge"
	"github.com/interlock-harness/interlock/harness/history"
)

// Transaction is a fault on one transaction between the service and
// PostgreSQL. All other transactions of the same pool are left alone.
type Transaction struct {
	*state
	rule *edge.Rule
}

// AckLost lets PostgreSQL commit the victim's transaction and cuts the
// connection before the service hears of it. Its twin is CommitLost.
func AckLost(rec *history.Recorder, p *edge.Postgres, v edge.Victim) (*Transaction, error) {
	return transaction(rec, p, "ack-lost", "the COMMIT of "+v.String()+" is done, the answer is cut", v, edge.AfterCommit, edge.Close)
}

// AckReset is AckLost with a reset instead of an orderly end.
func AckReset(rec *history.Recorder, p *edge.Postgres, v edge.Victim) (*Transaction, error) {
	return transaction(rec, p, "ack-reset", "the COMMIT of "+v.String()+" is done, the connection is reset", v, edge.AfterCommit, edge.RST)
}

// AckHalf is AckLost with a part of the answer.
func AckHalf(rec *history.Recorder, p *edge.Postgres, v edge.Victim) (*Transaction, error) {
	return transaction(rec, p, "ack-half", "the COMMIT of "+v.String()+" is done, part of the answer passes", v, edge.AfterCommit, edge.Half)
}

// CommitLost cuts the connection before the COMMIT of the victim's
// transaction reaches PostgreSQL, which rolls back.
func CommitLost(rec *history.Recorder, p *edge.Postgres, v edge.Victim) (*Transaction, error) {
	return transaction(rec, p, "commit-lost", "the COMMIT of "+v.String()+" never arrives", v, edge.BeforeCommit, edge.Close)
}

// HoldCommit keeps the COMMIT of the victim's transaction back until Release:
// the transaction stays open, with its locks.
func HoldCommit(rec *history.Recorder, p *edge.Postgres, v edge.Victim) (*Transaction, error) {
	return transaction(rec, p, "hold-commit", "the COMMIT of "+v.String()+" is held", v, edge.BeforeCommit, edge.Hold)
}

// HoldAck lets PostgreSQL commit and keeps the answer back until Release.
func HoldAck(rec *history.Recorder, p *edge.Postgres, v edge.Victim) (*Transaction, error) {
	return transaction(rec, p, "hold-ack", "the answer to the COMMIT of "+v.String()+" is held", v, edge.AfterCommit, edge.Hold)
}

// HoldStatement keeps the statement that completes the match back until
// Release.
func HoldStatement(rec *history.Recorder, p *edge.Postgres, v edge.Victim) (*Transaction, error) {
	return transaction(rec, p, "hold-statement", "the statement of "+v.String()+" is held", v, edge.BeforeStatement, edge.Hold)
}

func transaction(rec *history.Recorder, p *edge.Postgres, name, detail string, v edge.Victim, at edge.Place, do edge.Deed) (*Transaction, error) {
	f := &Transaction{state: arm(rec, name, APIPostgres, detail)}
	rule, err := p.Arm(v, at, do, f.fire)
	if err != nil {
		f.heal()
		return nil, err
	}
	f.rule = rule
	return f, nil
}

// Backend is the process of the server whose transaction was hit, 0 before that.
func (f *Transaction) Backend() int { return f.rule.Backend() }

// Release lets a held message go on.
func (f *Transaction) Release() { f.rule.Release() }

// Heal takes the rule away and lets go of what it holds.
func (f *Transaction) Heal(context.Context) error {
	f.rule.Disarm()
	f.heal()
	return nil
}
