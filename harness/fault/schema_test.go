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
