package cli

import (
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
)

// waitsPrefix begins each line about waits, so that a parent process knows them.
const waitsPrefix = "waits: "

// waits is who can say what a command waits for: it is asked by SIGQUIT or SIGUSR1.
type waits struct {
	mu     sync.Mutex
	n      int
	known  map[int]func(io.Writer)
	caught chan os.Signal // nil where nobody listens
}

// add takes one who can say it, until the returned function is called.
func (w *waits) add(tell func(io.Writer)) (forget func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.known == nil {
		w.known = map[int]func(io.Writer){}
	}
	w.n++
	n := w.n
	w.known[n] = tell
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.known, n)
	}
}

// ask takes the signals of a process of ours, which is asked in turn.
func (w *waits) ask(signal func(syscall.Signal) error) (forget func()) {
	return w.add(func(io.Writer) { _ = signal(syscall.SIGUSR1) })
}

// start starts a process of ours, which may be asked from its first moment on: until
// it listens it ignores the question, as it inherits to. Here the question is not
// heard for that moment either.
func (w *waits) start(begin func() error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.caught != nil {
		signal.Ignore(syscall.SIGUSR1)
		defer signal.Notify(w.caught, syscall.SIGUSR1)
	}
	return begin()
}

// tell has everybody say what it waits for.
func (w *waits) tell(to io.Writer) {
	w.mu.Lock()
	known := make([]func(io.Writer), 0, len(w.known))
	for _, n := range slices.Sorted(maps.Keys(w.known)) {
		known = append(known, w.known[n])
	}
	w.mu.Unlock()
	var said strings.Builder
	for _, tell := range known {
		tell(&said)
	}
	if len(known) == 0 {
		said.WriteString("no scenario and no plan is being played\n")
	}
	for line := range strings.Lines(said.String()) {
		_, _ = fmt.Fprintln(to, waitsPrefix+printable(strings.TrimRight(line, "\n")))
	}
}

// listen answers SIGQUIT and SIGUSR1 until the returned function is called.
func (w *waits) listen(to io.Writer) (stop func()) {
	caught, done := make(chan os.Signal, 1), make(chan struct{})
	w.mu.Lock()
	w.caught = caught
	signal.Notify(caught, syscall.SIGQUIT, syscall.SIGUSR1)
	w.mu.Unlock()
	go func() {
		for {
			select {
			case <-caught:
				w.tell(to)
			case <-done:
				return
			}
		}
	}()
	return func() {
		w.mu.Lock()
		w.caught = nil
		signal.Stop(caught)
		w.mu.Unlock()
		close(done)
	}
}
