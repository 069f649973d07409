package target_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/target"
)

func TestBreakOffSendsAPartAndReturnsWhenTheTargetIsDoneWithIt(t *testing.T) {
	body := []byte(`{"intent":{"contract":"triage"}}`)
	var got []byte
	var readError error
	handled := false
	_, rec, client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got, readError = io.ReadAll(r.Body)
		handled = true // no lock: the call returns after this
		w.WriteHeader(http.StatusCreated)
	})
	_, err := client.SubmitBody(bounded(t), "k-1", body, nil, target.BreakOff(9))
	if !target.IsUnknown(err) {
		t.Fatalf("a call that was broken off ended with %v, want an unknown outcome", err)
	}
	if !handled || string(got) != `{"intent"` || readError != io.ErrUnexpectedEOF {
		t.Errorf("handled %t, the target read %q, %v", handled, got, readError)
	}
	if op := only(t, rec); op.End.Kind != history.Info {
		t.Errorf("recorded %+v, want an end of kind info", op.End)
	}
}

func TestBreakOffNeedsAPartThatIsLessThanTheBody(t *testing.T) {
	calls := 0
	_, _, client := serve(t, func(http.ResponseWriter, *http.Request) { calls++ })
	for _, n := range []int{-1, 2, 3} {
		if _, err := client.SubmitBody(bounded(t), "k-1", []byte("{}"), nil, target.BreakOff(n)); err == nil {
			t.Errorf("%d bytes of 2: no error", n)
		}
	}
	if calls != 0 {
		t.Errorf("%d calls arrived", calls)
	}
}
