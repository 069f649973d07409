package postgres_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/interlock-harness/interlock/service/internal/postgres"
)

// statements is a tracer that lists what is sent.
type statements struct {
	mu   sync.Mutex
	sent []string
}

func (s *statements) TraceQueryStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceQueryStartData) context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent = append(s.sent, d.SQL)
	return ctx
}

func (s *statements) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (s *statements) since(n int) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.sent[n:]...)
}

func TestATracerSeesEachStatementOfATransaction(t *testing.T) {
	seen := &statements{}
	_, url := open(t, postgres.Options{})
	s := openAt(t, url, postgres.Options{Tracer: seen, PoolSize: 1})
	c := running(t, s, submission("k"))
	before := len(seen.since(0))
	if err := s.Complete(ctx(t), settlement(c, "ok"), json.RawMessage(`1`)); err != nil {
		t.Fatal(err)
	}
	var sent []string
	for _, text := range seen.since(before) {
		word, _, _ := strings.Cut(strings.TrimSpace(text), " ")
		sent = append(sent, word)
	}
	// the notifier may have told of the submit meanwhile: look at the end
	if got := strings.Join(sent[max(0, len(sent)-4):], " "); got != "UPDATE WITH WITH commit" {
		t.Errorf("statements are %q", sent)
	}
	if got := states(t, s, c.Job.ID); got != "succeeded " {
		t.Errorf("attempts are %s", got)
	}
}
