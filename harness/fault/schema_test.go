package fault_test

import (
	"testing"

	"github.com/interlock-harness/interlock/harness/fault"
	"github.com/interlock-harness/interlock/harness/history"
)

func TestASchemaGrowsAndIsItselfAgain(t *testing.T) {
	_, url := database(t)
	ctx := bounded(t)
	const uses = "SELECT interlock_later FROM jobs, attempts"
	if try(ctx, url, uses) == nil {
		t.Fatal("the columns are there before the fault")
	}
	f, err := fault.GrowSchema(ctx, history.New(), url)
	if err != nil {
		t.Fatal(err)
	}
	if !f.Fired() || try(ctx, url, "SELECT j.interlock_later, a.interlock_later FROM jobs j, attempts a") != nil {
		t.Error("the columns are not there")
	}
	for range 2 {
		if err := f.Heal(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if try(ctx, url, uses) == nil {
		t.Error("the columns stay")
	}
	if _, err := fault.GrowSchema(ctx, history.New(), "postgres://nobody@127.0.0.1:1/none"); err == nil {
		t.Error("a database that is not there was changed")
	}
}

// A transaction of the service that has an attempt may want a job while the schema
// grows: nothing of the growth stands in its way, or the two would be in a deadlock.
func TestASchemaGrowsTableByTable(t *testing.T) {
	_, url := database(t)
	ctx := bounded(t)
	has, err := fault.LockAttempt(ctx, history.New(), url, attempt)
	if err != nil {
		t.Fatal(err)
	}
	grown := make(chan error, 1)
	var f *fault.Grown
	go func() {
		var err error
		f, err = fault.GrowSchema(ctx, history.New(), url)
		grown <- err
	}()
	if _, err := has.Await(ctx, 1); err != nil {
		t.Fatal(err)
	}
	if err := try(ctx, url, "SET statement_timeout = '5s'; SELECT FROM jobs WHERE id = '"+job+"' FOR UPDATE"); err != nil {
		t.Errorf("the job cannot be had: %v", err)
	}
	if err := has.Heal(ctx); err != nil {
		t.Error(err)
	}
	if err := <-grown; err != nil {
		t.Fatal(err)
	}
	if err := f.Heal(ctx); err != nil {
		t.Error(err)
	}
}
