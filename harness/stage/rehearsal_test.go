package stage_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// rehearse is the smallest service on which the stage itself can be tested:
// one job, one attempt, one call, one result. It is nobody's reference.
func rehearse(args []string, _ io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	var err error
	switch args[0] {
	case "migrate":
		err = rehearsedMigration(ctx)
	case "serve":
		err = rehearsedService(ctx, args[1:], stdout, stderr)
	}
	if err != nil {
		_, _ = fmt.Fprintln(stderr, err)
		return 3
	}
	return 0
}

func rehearsedMigration(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	_, err = conn.Exec(ctx, `
		CREATE TABLE jobs (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), owner text, key text, fingerprint bytea, body json,
			version bigint DEFAULT 1, result json, completed_by uuid, completed_at timestamptz, cancelled_at timestamptz, UNIQUE (owner, key));
		CREATE TABLE attempts (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), job_id uuid REFERENCES jobs, n int DEFAULT 1,
			provider text, state text DEFAULT 'starting', reason text);
		CREATE TABLE attempt_events (id bigint, at timestamptz, job_id uuid, attempt_id uuid, type text, from_state text, to_state text, actor text, reason text);
		CREATE TABLE races (id bigint, at timestamptz, job_id uuid, attempt_id uuid, winner_id uuid, reason text, payload_sha256 bytea, payload_bytes bigint)`)
	return err
}

// rehearsal is one process of it.
type rehearsal struct {
	pool *pgxpool.Pool
	base string // of the provider
	keys string // lines NAME ROLE SHA256
}

func rehearsedService(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	fs := flag.NewFlagSet("serve", flag.ContinueOnError)
	listen, role, profiles, keys := fs.String("listen", "", ""), fs.String("role", "", ""), fs.String("profiles", "", ""), fs.String("keys", "", "")
	for _, name := range []string{"contracts", "certificates", "trust", "mutant", "deadline", "hard-limit", "lease", "heartbeat", "poll", "reap", "shutdown-grace", "max-attempts", "concurrency"} {
		fs.String(name, "", "")
	}
	fs.Bool("allow-unsafe-database", false, "")
	if err := fs.Parse(args); err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(*profiles, "openai-demo.yaml"))
	if err != nil {
		return err
	}
	lines, err := os.ReadFile(*keys)
	if err != nil {
		return err
	}
	r := &rehearsal{keys: string(lines), base: string(regexp.MustCompile(`(?m)^base_url: (\S+)$`).FindSubmatch(text)[1])}
	if r.pool, err = pgxpool.New(ctx, os.Getenv("DATABASE_URL")); err != nil {
		return err
	}
	defer r.pool.Close()
	l, err := net.Listen("tcp", *listen)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: r.routes()}
	go func() { _ = server.Serve(l) }()
	_, _ = fmt.Fprintf(stdout, "{\"listening\":%q,\"roles\":[%q]}\n", l.Addr().String(), *role)
	_, _ = fmt.Fprintf(stderr, "{\"msg\":\"started\",\"role\":%q}\n", *role)
	if *role == "worker" {
		r.work(ctx)
	}
	<-ctx.Done()
	return server.Close()
}

func (r *rehearsal) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, q *http.Request) {
		if r.pool.Ping(q.Context()) != nil {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	mux.HandleFunc("POST /v1/jobs", func(w http.ResponseWriter, q *http.Request) {
		body, err := io.ReadAll(q.Body)
		if err != nil {
			return
		}
		id, replayed, err := r.submit(q.Context(), r.owner(q), q.Header.Get("Idempotency-Key"), body)
		if err != nil {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Idempotency-Replayed", fmt.Sprint(replayed))
		if !replayed {
			w.WriteHeader(http.StatusCreated)
		}
		r.show(w, q, id)
	})
	mux.HandleFunc("GET /v1/jobs/{id}", func(w http.ResponseWriter, q *http.Request) { r.show(w, q, q.PathValue("id")) })
	return mux
}

func (r *rehearsal) owner(q *http.Request) string {
	sum := sha256.Sum256([]byte(strings.TrimPrefix(q.Header.Get("Authorization"), "Bearer ")))
	for line := range strings.Lines(r.keys) {
		if f := strings.Fields(line); f[2] == hex.EncodeToString(sum[:]) {
			return f[0]
		}
	}
	return ""
}

func (r *rehearsal) submit(ctx context.Context, owner, key string, body []byte) (id string, replayed bool, err error) {
	err = pgx.BeginFunc(ctx, r.pool, func(tx pgx.Tx) error {
		err := tx.QueryRow(ctx, `INSERT INTO jobs (owner, key, body, fingerprint) VALUES ($1, $2, $3, '')
			ON CONFLICT (owner, key) DO NOTHING RETURNING id::text`, owner, key, string(body)).Scan(&id)
		if errors.Is(err, pgx.ErrNoRows) {
			replayed = true
			return nil
		}
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, "INSERT INTO attempts (job_id, provider) VALUES ($1, 'openai-demo')", id)
		return err
	})
	if replayed && err == nil {
		err = r.pool.QueryRow(ctx, "SELECT id::text FROM jobs WHERE owner = $1 AND key = $2", owner, key).Scan(&id)
	}
	return id, replayed, err
}

func (r *rehearsal) show(w http.ResponseWriter, q *http.Request, id string) {
	var text string
	err := r.pool.QueryRow(q.Context(), `
		SELECT json_build_object('id', j.id, 'key', key, 'version', version, 'result', result, 'attempts', 1,
			'status', CASE WHEN completed_by IS NOT NULL THEN 'succeeded' ELSE a.state END)::text
		FROM jobs j JOIN attempts a ON a.job_id = j.id WHERE j.id = $1`, id).Scan(&text)
	if err != nil {
		text = "null"
	}
	_, _ = io.WriteString(w, text)
}

func (r *rehearsal) work(ctx context.Context) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		var attempt, job, body string
		err := r.pool.QueryRow(ctx, `UPDATE attempts SET state = 'running' WHERE id = (
			SELECT id FROM attempts WHERE state = 'starting' LIMIT 1 FOR UPDATE SKIP LOCKED)
			RETURNING id::text, job_id::text, (SELECT body::text FROM jobs j WHERE j.id = job_id)`).Scan(&attempt, &job, &body)
		if err != nil {
			continue
		}
		go r.call(ctx, attempt, job, body)
	}
}

func (r *rehearsal) call(ctx context.Context, attempt, job, body string) {
	ask, _ := json.Marshal(map[string]any{"model": "m", "messages": []any{map[string]string{"role": "user", "content": body}}})
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.base+"/v1/chat/completions", struct{ io.Reader }{bytes.NewReader(ask)})
	if err != nil {
		return
	}
	req.Header.Set("Authorization", "Bearer x")
	req.Header.Set("X-Job-Id", job)
	req.Header.Set("X-Attempt-Id", attempt)
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err == nil {
		_, err = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
	}
	state, reason := "succeeded", ""
	if err != nil {
		state, reason = "unknown", err.Error()
	}
	_ = pgx.BeginFunc(ctx, r.pool, func(tx pgx.Tx) error {
		if state == "succeeded" {
			_, err := tx.Exec(ctx, "UPDATE jobs SET result = '{}', completed_by = $2, completed_at = now(), version = 2 WHERE id = $1 AND completed_by IS NULL", job, attempt)
			if err != nil {
				return err
			}
		}
		_, err := tx.Exec(ctx, "UPDATE attempts SET state = $2, reason = $3 WHERE id = $1", attempt, state, strings.ToValidUTF8(reason, "?"))
		return err
	})
}
