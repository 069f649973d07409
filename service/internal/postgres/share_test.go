package postgres_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/service/internal/job"
	"github.com/interlock-harness/interlock/service/internal/postgres"
)

// duplicates submits a stored key n times while a read of it is in the air, and
// returns when one more waits for the next read and all have been sent.
func duplicates(t *testing.T, s *postgres.Store, key job.Key, n int) (answers chan answered) {
	t.Helper()
	answers = make(chan answered, n)
	var sent sync.WaitGroup
	for range n {
		sent.Add(1)
		go func() {
			sent.Done()
			j, created, err := s.Submit(ctx(t), submission(key))
			answers <- answered{j, created, err}
		}()
	}
	sent.Wait()
	for begun := time.Now(); !s.AwaitsRead("alice", key); time.Sleep(time.Millisecond) {
		if time.Since(begun) > toStore {
			t.Fatal("nobody waits for the next read")
		}
	}
	return answers
}

func TestADuplicateIsNeverToldWhatWasReadBeforeItCame(t *testing.T) {
	s, url := open(t, postgres.Options{})
	first := submit(t, s, submission("hot"))
	s.InAir("alice", "hot")
	answers := duplicates(t, s, "hot", 8)
	if _, err := openAt(t, url, postgres.Options{}).CancelJob(ctx(t), job.Move{Owner: "alice", Job: first.ID, Actor: "owner:alice"}); err != nil {
		t.Fatal(err)
	}
	s.ReadLanded("alice", "hot")
	for range 8 {
		if a := <-answers; a.err != nil || a.created || a.j.ID != first.ID || a.j.Status != job.StatusCancelled {
			t.Errorf("told %+v of the job that was cancelled before the read", a)
		}
	}
}

func TestDuplicatesThatCameMeanwhileShareOneRead(t *testing.T) {
	var reads atomic.Int64
	s, _ := open(t, postgres.Options{Spans: func(_ context.Context, statement string) func(error) {
		if statement == "job-by-key" {
			reads.Add(1)
		}
		return func(error) {}
	}})
	first := submit(t, s, submission("hot"))
	s.InAir("alice", "hot")
	before := reads.Load()
	answers := duplicates(t, s, "hot", 1)
	s.ReadLanded("alice", "hot")
	if a := <-answers; a.err != nil || a.j.ID != first.ID {
		t.Fatal(a)
	}
	if n := reads.Load() - before; n != 1 {
		t.Errorf("%d reads for one question", n)
	}
	for n := 0; n < 20; n++ {
		s.InAir("alice", "hot")
		before = reads.Load()
		answers = duplicates(t, s, "hot", 16)
		s.ReadLanded("alice", "hot")
		for range 16 {
			if a := <-answers; a.err != nil || a.created || a.j.ID != first.ID {
				t.Fatal(a)
			}
		}
		if n := reads.Load() - before; n > 4 { // those who came after the read began share the next
			t.Errorf("%d reads for 16 questions", n)
		}
	}
	if n := s.ReadsInAir(); n != 0 {
		t.Errorf("%d keys count as being read when nobody asks", n)
	}
}

func TestAReadThatFailedIsNobodysAnswer(t *testing.T) {
	s, _ := open(t, postgres.Options{})
	first := submit(t, s, submission("hot"))
	s.InAir("alice", "hot")
	answers := duplicates(t, s, "hot", 1)
	s.FailRead("alice", "hot", errors.New("the connection of somebody else broke"))
	if a := <-answers; a.err != nil || a.created || a.j.ID != first.ID {
		t.Errorf("told %+v", a)
	}
}

func TestASlowReadHoldsUpNobodyElse(t *testing.T) {
	s, url := open(t, postgres.Options{Patience: toStore})
	first := submit(t, s, submission("hot"))
	unlock := lockJobs(t, url, "ACCESS EXCLUSIVE")
	slow := make(chan answered, 1)
	go func() {
		j, created, err := s.Submit(ctx(t), submission("hot"))
		slow <- answered{j, created, err}
	}()
	for begun := time.Now(); s.ReadsInAir() == 0; time.Sleep(time.Millisecond) {
		if time.Since(begun) > toStore {
			t.Fatal("the first read does not begin")
		}
	}
	answers := duplicates(t, s, "hot", 1)
	for begun := time.Now(); s.AwaitsRead("alice", "hot"); time.Sleep(time.Millisecond) {
		if time.Since(begun) > toStore {
			t.Fatal("the second read waits for the first one")
		}
	}
	unlock()
	for _, answer := range []chan answered{slow, answers} {
		if a := <-answer; a.err != nil || a.j.ID != first.ID {
			t.Errorf("told %+v", a)
		}
	}
}
