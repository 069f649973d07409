package tracing

import (
	"context"
	"crypto/rand"

	"go.opentelemetry.io/otel/trace"
)

type wantedKey struct{}

// wanted has the next span of ctx take the ids that it was given: those that a
// client was told, or that follow from the job.
func wanted(ctx context.Context, c trace.SpanContext) context.Context {
	return context.WithValue(ctx, wantedKey{}, &c)
}

// ids hands out wanted ids once, and random ones else.
type ids struct{}

func (ids) NewIDs(ctx context.Context) (id trace.TraceID, span trace.SpanID) {
	if c := take(ctx); c.IsValid() {
		return c.TraceID(), c.SpanID()
	}
	_, _ = rand.Read(id[:])
	_, _ = rand.Read(span[:])
	return id, span
}

func (ids) NewSpanID(ctx context.Context, _ trace.TraceID) (span trace.SpanID) {
	if c := take(ctx); c.IsValid() {
		return c.SpanID()
	}
	_, _ = rand.Read(span[:])
	return span
}

// take empties the wish: a span below must not get the same id. A span is started
// by one goroutine, before its context is known to others.
func take(ctx context.Context) trace.SpanContext {
	w, ok := ctx.Value(wantedKey{}).(*trace.SpanContext)
	if !ok {
		return trace.SpanContext{}
	}
	c := *w
	*w = trace.SpanContext{}
	return c
}
