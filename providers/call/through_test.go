package call_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/call"
	"github.com/interlock-harness/interlock/providers/standin"
)

// However an answer ends, a call inside the process tells it as one over a socket.
func TestCallsInsideTheProcessEndAsThoseOverASocket(t *testing.T) {
	const toStall = 3 * time.Second
	half := &standin.Point{Bytes: 40}
	for _, c := range []struct {
		name   string
		answer standin.Answer
		wait   time.Duration
		end    providers.End
		status int
	}{
		{"whole", standin.Answer{}, toAnswer, providers.EndEOF, 200},
		{"refused", standin.Answer{Status: 429}, toAnswer, providers.EndEOF, 429},
		{"reset in the middle", standin.Answer{Cut: half, CutBy: standin.CutReset}, toAnswer, providers.EndReset, 200},
		{"reset before an answer", standin.Reset(), toAnswer, providers.EndNone, 0},
		{"closed in the middle", standin.Answer{Cut: half}, toAnswer, providers.EndUnterminated, 200},
		{"silent in the middle", standin.Answer{Cut: half, CutBy: standin.CutStall}, toStall, providers.EndStall, 200},
		{"without HTTP", standin.Answer{Raw: []byte("SSH-2.0-x\r\n")}, toAnswer, providers.EndNone, 0},
	} {
		for _, stream := range []bool{false, true} {
			for _, inside := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, stream %v, inside %v", c.name, stream, inside), func(t *testing.T) {
					t.Parallel()
					got, calls := played(t, c.answer, stream, inside, c.wait)
					if !inside && c.end == providers.EndReset && got.Status == 0 {
						return // a reset may overtake what was sent before it
					}
					if got.End != c.end || got.Reach != providers.ReachSent || got.Status != c.status || calls != 1 {
						t.Errorf("end %s, reach %s, status %d, %d calls (%v); want %s, sent, %d, 1", got.End, got.Reach, got.Status, calls, got.Err, c.end, c.status)
					}
				})
			}
		}
	}
}

// played is one call to a stand-in that answers so, and the calls that it counted.
func played(t *testing.T, answer standin.Answer, stream, inside bool, wait time.Duration) (providers.Transcript, int) {
	t.Helper()
	s, err := standin.Start(standin.Options{
		Protocol: providers.OpenAIChat, Inside: inside, Fallback: func(standin.Ask) string { return `{"a":"the same answer"}` },
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Script(standin.Match{}, answer)
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	if inside {
		ctx = call.Through(ctx, s.Dial)
	}
	got, err := call.Do(ctx, profile(s.URL()), "", providers.Request{Model: "m", User: "hello", Stream: stream}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return got, len(s.Ledger())
}

// A stand-in that was closed is not reached, and the call says that nothing left.
func TestACallToAStandInThatIsClosedIsNotSent(t *testing.T) {
	s, err := standin.Start(standin.Options{Protocol: providers.OpenAIChat, Inside: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := call.Do(call.Through(t.Context(), s.Dial), profile(s.URL()), "", providers.Request{Model: "m"}, nil)
	if err != nil || got.Reach != providers.ReachNotSent || !errors.Is(got.Err, syscall.ECONNREFUSED) {
		t.Errorf("reach %s, %v, %v", got.Reach, got.Err, err)
	}
}

// Nobody gets inside by an address: a stand-in without a socket is not dialled, and
// one with a socket is not reached through the process.
func TestAStandInInsideIsReachedByItsDialerOnly(t *testing.T) {
	within, err := standin.Start(standin.Options{Protocol: providers.OpenAIChat, Inside: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = within.Close() }()
	if got := do(t, profile(within.URL()), toAnswer); got.Reach != providers.ReachNotSent || len(within.Ledger()) != 0 {
		t.Errorf("reach %s, %d calls", got.Reach, len(within.Ledger()))
	}
	outside, err := standin.Start(standin.Options{Protocol: providers.OpenAIChat})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = outside.Close() }()
	if _, err := outside.Dial(t.Context(), "tcp", outside.Addr()); err == nil {
		t.Error("a stand-in on a socket is dialled inside")
	}
	var dial call.Dialer = func(context.Context, string, string) (net.Conn, error) { return nil, syscall.ECONNRESET }
	if got, err := call.Do(call.Through(t.Context(), dial), profile(outside.URL()), "", providers.Request{Model: "m"}, nil); err != nil || got.Reach != providers.ReachNotSent {
		t.Errorf("reach %s, %v", got.Reach, err)
	}
}
