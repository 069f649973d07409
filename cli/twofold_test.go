package cli_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// twofold is a small job service as somebody might write it, on a PostgreSQL of its
// own: it looks whether there is a job of the key, and inserts one where there is
// none. With unique the key is unique in its table, too.
type twofold struct {
	foreignService
	listen   string // where it finds its database
	pool     *pgxpool.Pool
	provider string
	unique   bool
}

const twofoldAdapter = `
name: twofold
paths:
  list: "-"
  start: "-"
  cancel: "-"
  events: "-"
  races: "-"
  cancel-attempt: "-"
  release: "-"
  resolve: "-"
  failover: "-"
`

func newTwofold(t *testing.T, unique bool) *twofold {
	s := &twofold{foreignService: newForeignService(t, 200), listen: freePort(t), unique: unique}
	ctx := t.Context()
	conn, err := pgx.Connect(ctx, s.database)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	key := ""
	if unique {
		key = ", UNIQUE (owner, key)"
	}
	if _, err := conn.Exec(ctx, `
		CREATE TABLE jobs (id uuid PRIMARY KEY, owner text, key text, fingerprint bytea, version bigint DEFAULT 1, result json,
			completed_by uuid, completed_at timestamptz, cancelled_at timestamptz`+key+`);
		CREATE TABLE attempts (id uuid PRIMARY KEY, job_id uuid, n int, provider text, state text, reason text);
		CREATE TABLE attempt_events (id bigserial, job_id uuid, attempt_id uuid, type text, from_state text, to_state text, actor text, reason text, at timestamptz DEFAULT now());
		CREATE TABLE races (id bigserial, job_id uuid, attempt_id uuid, winner_id uuid, reason text, payload_sha256 bytea, payload_bytes bigint)`); err != nil {
		t.Fatal(err)
	}
	url, err := pgxpool.ParseConfig(s.database)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = fmt.Sscanf(strings.Replace(s.listen, ":", " ", 1), "%s %d", &url.ConnConfig.Host, &url.ConnConfig.Port)
	url.ConnConfig.Fallbacks, url.MaxConns = nil, 4
	if s.pool, err = pgxpool.NewWithConfig(context.Background(), url); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.pool.Close)
	_, s.provider, _ = strings.Cut(s.providers[0], "=")
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/jobs", s.submit)
	mux.HandleFunc("GET /v1/jobs/{id}", s.show)
	mux.HandleFunc("GET /v1/jobs/{id}/attempts", s.attempts)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

func (s *twofold) explore(t *testing.T, args ...string) (int, string) {
	t.Helper()
	t.Setenv("INTERLOCK_TARGET_PG_URL", s.database)
	adapter := filepath.Join(t.TempDir(), "adapter.yaml")
	write(t, adapter, twofoldAdapter)
	return interlock(t, append([]string{"explore", "--interleave", "--target", s.url, "--target-keys", s.keys,
		"--provider", strings.Join(s.providers, ","), "--adapter", adapter, "--target-pg-listen", s.listen}, args...)...)
}

func (s *twofold) owner(r *http.Request) string {
	name, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ilk_")
	return strings.TrimSuffix(name, "_owner")
}

func (s *twofold) submit(w http.ResponseWriter, r *http.Request) {
	var body struct{ Intent json.RawMessage }
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	owner, key, sum := s.owner(r), r.Header.Get("Idempotency-Key"), sha256.Sum256(body.Intent)
	id, print, status := "", "", http.StatusOK
	find := func() error {
		return s.pool.QueryRow(r.Context(), "SELECT id::text, encode(fingerprint, 'hex') FROM jobs WHERE owner = $1 AND key = $2", owner, key).Scan(&id, &print)
	}
	err := find()
	if err == pgx.ErrNoRows { // and who comes here at the same time?
		attempt := ""
		err = s.pool.QueryRow(r.Context(), `
			WITH j AS (
				INSERT INTO jobs (id, owner, key, fingerprint) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING RETURNING id
			), a AS (
				INSERT INTO attempts (id, job_id, n, provider, state) SELECT $5, id, 1, 'openai-demo', 'running' FROM j RETURNING id, job_id
			), e AS (
				INSERT INTO attempt_events (job_id, attempt_id, type, from_state, to_state, actor)
				SELECT job_id, id, 'attempt.moved', NULL, 'starting', 'api' FROM a UNION ALL
				SELECT job_id, id, 'attempt.moved', 'starting', 'running', 'api' FROM a
			)
			SELECT id::text FROM a`, uuid.New(), owner, key, sum[:], uuid.New()).Scan(&attempt)
		if err == nil {
			status = http.StatusCreated
		}
		if err == nil || err == pgx.ErrNoRows {
			err = find()
		}
		if status == http.StatusCreated && err == nil {
			_ = s.pool.QueryRow(r.Context(), "SELECT job_id::text FROM attempts WHERE id = $1", attempt).Scan(&id)
			go s.ask(id, attempt, string(body.Intent))
		}
	}
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	case print != hex.EncodeToString(sum[:]):
		w.WriteHeader(http.StatusConflict)
		_, _ = fmt.Fprintf(w, `{"type":"/problems/idempotency-key-reused","job_id":%q}`, id)
	default:
		w.WriteHeader(status)
		s.write(w, r, id)
	}
}

// ask has the provider do the work, and keeps the result.
func (s *twofold) ask(id, attempt, prompt string) {
	text, _ := json.Marshal(map[string]any{"model": "standin-orion-1", "messages": []any{map[string]any{"role": "user", "content": prompt}}})
	r, err := http.NewRequest(http.MethodPost, "http://"+s.provider+"/v1/chat/completions", strings.NewReader(string(text)))
	if err != nil {
		return
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Job-Id", id)
	r.Header.Set("X-Attempt-Id", attempt)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return
	}
	defer func() { _ = answer.Body.Close() }()
	var said struct {
		Choices []struct {
			Message struct{ Content json.RawMessage }
		}
	}
	if json.NewDecoder(answer.Body).Decode(&said) != nil || len(said.Choices) == 0 {
		return
	}
	var content string
	_ = json.Unmarshal(said.Choices[0].Message.Content, &content)
	_, _ = s.pool.Exec(context.Background(), `
		WITH won AS (
			UPDATE jobs SET result = $2, completed_by = $3, completed_at = now(), version = version + 1 WHERE id = $1 AND completed_by IS NULL RETURNING id
		), a AS (
			UPDATE attempts SET state = 'succeeded' FROM won WHERE attempts.id = $3 RETURNING attempts.id
		)
		INSERT INTO attempt_events (job_id, attempt_id, type, from_state, to_state, actor)
		SELECT $1, id, 'attempt.moved', 'running', 'succeeded', 'worker' FROM a UNION ALL
		SELECT $1, id, 'job.succeeded', NULL, NULL, 'worker' FROM a`, id, content, attempt)
}

func (s *twofold) show(w http.ResponseWriter, r *http.Request) { s.write(w, r, r.PathValue("id")) }

func (s *twofold) write(w http.ResponseWriter, r *http.Request, id string) {
	var text string
	err := s.pool.QueryRow(r.Context(), `
		SELECT json_strip_nulls(json_build_object('id', j.id, 'key', key, 'version', version, 'result', result, 'completed_by', completed_by,
			'status', CASE WHEN completed_by IS NULL THEN 'running' ELSE 'succeeded' END))::text
		FROM jobs j WHERE id = $1 AND owner = $2`, id, s.owner(r)).Scan(&text)
	if err != nil {
		http.Error(w, `{"type":"/problems/not-found"}`, http.StatusNotFound)
		return
	}
	_, _ = w.Write([]byte(text))
}

func (s *twofold) attempts(w http.ResponseWriter, r *http.Request) {
	var text string
	err := s.pool.QueryRow(r.Context(), `
		SELECT json_build_object('attempts', json_agg(json_build_object('id', id, 'job_id', job_id, 'n', n, 'provider', provider, 'state', state) ORDER BY n))::text
		FROM attempts WHERE job_id = $1`, r.PathValue("id")).Scan(&text)
	if err != nil {
		http.Error(w, `{"type":"/problems/not-found"}`, http.StatusNotFound)
		return
	}
	_, _ = w.Write([]byte(text))
}
