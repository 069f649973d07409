package stage_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/interlock-harness/interlock/harness/edge"
	"github.com/interlock-harness/interlock/harness/stage"
	"github.com/interlock-harness/interlock/harness/target"
)

// Each kind of thing that a scenario may leave is seen, and is no longer seen once it
// is gone.
func TestWhatAScenarioLeavesIsSeen(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	s, err := stage.Start(ctx, stage.Options{PGURL: mustPG(t), Command: []string{self(t), "reference"}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	v, err := s.Service(ctx)
	if err != nil {
		t.Fatal(err)
	}
	connect := func(t *testing.T, name string) *pgx.Conn {
		config, err := pgx.ParseConfig(v.PGURL())
		if err != nil {
			t.Fatal(err)
		}
		config.RuntimeParams["application_name"] = name
		conn, err := pgx.ConnectConfig(ctx, config)
		if err != nil {
			t.Fatal(err)
		}
		return conn
	}
	for want, plant := range map[string]func(*testing.T) (undo func()){
		"goroutine": func(t *testing.T) func() {
			never := make(chan struct{})
			came := make(chan struct{})
			silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { close(came); <-never }))
			done := make(chan struct{})
			go func() {
				defer close(done)
				_, _ = target.New(target.Options{BaseURL: silent.URL}).Job(ctx, "j")
			}()
			<-came
			return func() { close(never); <-done; silent.Close() }
		},
		"proxy leak at 127.0.0.1:": func(t *testing.T) func() {
			p, err := s.Network.Open(ctx, "leak", "127.0.0.1:1", []edge.Toxic{}...)
			if err != nil {
				t.Fatal(err)
			}
			return func() { _ = p.Close() }
		},
		"1 connections of the harness": func(t *testing.T) func() {
			conn := connect(t, "interlock-harness")
			return func() { _ = conn.Close(ctx) }
		},
		"1 advisory locks": func(t *testing.T) func() {
			conn := connect(t, "anybody")
			if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock(7)"); err != nil {
				t.Fatal(err)
			}
			return func() { _ = conn.Close(ctx) }
		},
		"2 locks of the harness": func(t *testing.T) func() {
			conn := connect(t, "interlock-harness")
			if _, err := conn.Exec(ctx, "BEGIN; LOCK TABLE jobs IN SHARE MODE; LOCK TABLE attempts IN SHARE MODE"); err != nil {
				t.Fatal(err)
			}
			return func() { _ = conn.Close(ctx) }
		},
		"process ": func(t *testing.T) func() {
			cmd := exec.Command("sleep", "60")
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			return func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }
		},
		"file ": func(t *testing.T) func() {
			file := filepath.Join(s.Config().Dir, "left")
			if err := os.WriteFile(file, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			return func() { _ = os.Remove(file) }
		},
	} {
		t.Run(want, func(t *testing.T) {
			before := s.Holdings()
			if err := s.Left(ctx, before); err != nil {
				t.Fatalf("with nothing left: %v", err)
			}
			undo := plant(t)
			err := s.Left(ctx, before)
			undo()
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("it says %v", err)
			}
			if err := s.Left(ctx, before); err != nil {
				t.Errorf("when it is gone: %v", err)
			}
		})
	}
}
