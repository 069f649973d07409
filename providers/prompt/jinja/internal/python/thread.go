package python

import "time"

// Thread is one render in progress: what it may still spend, how deep it is,
// and its clock. It belongs to one goroutine.
type Thread struct {
	Steps      int              // left; each statement, call and item costs one, 16 bytes of text cost one
	MaxBytes   int              // longest text that may be made
	Frames     int              // left of Python's recursion limit
	Now        func() time.Time // what strftime_now sees; one instant per render
	Autoescape bool             // inside {% autoescape true %}
}

// Step spends one step.
func (t *Thread) Step() { t.Spend(1) }

// Spend spends n steps, and ends the render when none are left.
func (t *Thread) Spend(n int) {
	t.Steps -= n
	if t.Steps < 0 {
		Raise(LimitError, "the render takes too many steps")
	}
}

// Text accounts for n bytes of text about to be made.
func (t *Thread) Text(n int) {
	if n > t.MaxBytes || n < 0 {
		Raise(LimitError, "the render makes a text longer than %d bytes", t.MaxBytes)
	}
	t.Spend(n >> 4)
}

// Items accounts for n values about to be stored.
func (t *Thread) Items(n int) {
	if n > t.MaxBytes/16 || n < 0 {
		Raise(LimitError, "the render makes a list longer than %d items", t.MaxBytes/16)
	}
	t.Spend(n)
}

// Enter goes n Python frames deeper; Leave comes back. The figures stand for
// CPython's recursion limit of 1,000 frames, which ends endless macros.
func (t *Thread) Enter(n int) {
	t.Frames -= n
	if t.Frames < 0 {
		t.Frames += n
		Raise(RecursionError, "maximum recursion depth exceeded")
	}
}

// Leave undoes Enter.
func (t *Thread) Leave(n int) { t.Frames += n }
