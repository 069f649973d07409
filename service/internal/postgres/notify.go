package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// channel carries "there is something to claim", without content.
const channel = "interlock_attempts"

// notifyEvery bounds how often one process notifies, however many submits there
// are: a notification inside each submit would serialise them all.
const notifyEvery = 5 * time.Millisecond

// notifier tells workers, here and in other processes, that there may be
// something to claim. It is only a hint: they poll as well.
type notifier struct {
	dirty  chan struct{} // holds one token when something is new
	local  chan struct{} // the same for the worker of this process
	cancel context.CancelFunc
	done   chan struct{}
}

func (n *notifier) start(s *Store) {
	n.dirty, n.local = make(chan struct{}, 1), make(chan struct{}, 1)
	n.done = make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	n.cancel = cancel
	go func() {
		defer close(n.done)
		for {
			select {
			case <-ctx.Done():
				return
			case <-n.dirty:
			}
			s.notify(ctx)
			select {
			case <-ctx.Done():
				return
			case <-time.After(notifyEvery):
			}
		}
	}()
}

func (n *notifier) stop() {
	n.cancel()
	<-n.done
}

// wake is called after a commit that added an attempt.
func (s *Store) wake() {
	for _, c := range []chan struct{}{s.notifier.dirty, s.notifier.local} {
		select {
		case c <- struct{}{}:
		default: // a token is waiting already
		}
	}
}

// Woken receives a token after this process added attempts. Another process's
// are heard by Listen.
func (s *Store) Woken() <-chan struct{} { return s.notifier.local }

const (
	// A hint need not survive a crash, so nobody waits for the disk.
	hintOnly = `SELECT set_config('synchronous_commit', 'off', true)`
	hint     = `SELECT pg_notify('` + channel + `', '')`
)

func (s *Store) notify(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, s.options.Patience)
	defer cancel()
	c, err := s.acquire(ctx)
	if err != nil {
		return // workers poll
	}
	defer c.Release()
	err = s.roundTrip(ctx, c.Conn(), trip{begin: true, commit: true},
		&query{sql: hintOnly, args: pgx.NamedArgs{}}, &query{sql: hint, args: pgx.NamedArgs{}})
	if err != nil {
		s.log.Debug("notify", "error", err)
	}
}

// Listen sends a token to Woken for each notification of any process, on a
// connection of its own, until ctx ends. It connects again when that breaks.
func (s *Store) Listen(ctx context.Context) {
	for pause := firstPause; ctx.Err() == nil; pause = min(2*pause, lastPause) {
		err := s.listenOnce(ctx, func() { pause = firstPause })
		s.log.Debug("listen", "error", err)
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

func (s *Store) listenOnce(ctx context.Context, listening func()) error {
	conn, err := pgx.ConnectConfig(ctx, s.pool.Config().ConnConfig.Copy())
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(ctx, "LISTEN "+channel); err != nil {
		return err
	}
	listening()
	for {
		if _, err := conn.WaitForNotification(ctx); err != nil {
			return err
		}
		select {
		case s.notifier.local <- struct{}{}:
		default:
		}
	}
}
