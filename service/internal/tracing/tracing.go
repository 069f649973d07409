// Package tracing makes OpenTelemetry traces of what the service does: requests,
// jobs, attempts, flights of statements and calls to providers.
//
// A job has a trace of its own, whose id is the job's: whoever knows the job finds
// its trace, and attempts in any process join it without a word between them. The
// request that made the job is in its caller's trace; the two are linked both
// ways. No span holds content: no input, no result, no key.
package tracing

import (
	"context"
	"encoding/hex"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/interlock-harness/interlock/service/internal/httpapi"
	"github.com/interlock-harness/interlock/service/internal/job"
)

// Options of tracing.
type Options struct {
	Endpoint string            // base URL of an OTLP/HTTP collector; /v1/traces is added
	Headers  map[string]string // sent with each export
	Version  string            // of this program
	Log      *slog.Logger
}

// Tracing sends spans to a collector in the background. The service does not wait
// for it, and spans are dropped rather than kept when it is slow.
type Tracing struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
}

// scope names this package in the spans.
const scope = "github.com/interlock-harness/interlock/service"

// Start begins to export. OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES say who
// this is.
func Start(ctx context.Context, o Options) (*Tracing, error) {
	about, err := resource.New(ctx, resource.WithTelemetrySDK(),
		resource.WithAttributes(attribute.String("service.name", "interlock"), attribute.String("service.version", o.Version)), resource.WithFromEnv())
	if err != nil {
		return nil, err
	}
	var failing atomic.Bool
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		if !failing.Swap(true) { // once until it works again
			o.Log.Warn("traces are lost", "error", err)
		}
	}))
	exporter := newExporter(o, func() { failing.Store(false) })
	return with(sdk.NewTracerProvider(sdk.WithBatcher(exporter), sdk.WithResource(about), sdk.WithIDGenerator(ids{}))), nil
}

func with(p *sdk.TracerProvider) *Tracing { return &Tracing{provider: p, tracer: p.Tracer(scope)} }

// toFlush bounds the last export.
const toFlush = 3 * time.Second

// Stop exports what is left.
func (t *Tracing) Stop() {
	ctx, cancel := context.WithTimeout(context.Background(), toFlush)
	defer cancel()
	_ = t.provider.Shutdown(ctx)
}

// Request begins the span of a request. ours is the trace context that it is
// answered with, parent the caller's or empty; both in the form of W3C.
func (t *Tracing) Request(ctx context.Context, parent, ours string) (context.Context, func(httpapi.Answered)) {
	mine := parse(ours)
	if from := parse(parent); from.IsValid() {
		ctx = trace.ContextWithRemoteSpanContext(ctx, from)
	}
	ctx, span := t.tracer.Start(wanted(ctx, mine), "request", trace.WithSpanKind(trace.SpanKindServer))
	return ctx, func(a httpapi.Answered) {
		defer span.End()
		span.SetAttributes(attribute.String("http.request.method", a.Method), attribute.Int("http.response.status_code", a.Status))
		if a.Route != "" {
			span.SetName(a.Method + " " + a.Route)
			span.SetAttributes(attribute.String("http.route", a.Route))
		}
		if a.Status >= 500 {
			span.SetStatus(codes.Error, "")
		}
		of := jobSpan(a.Job)
		if !of.IsValid() {
			return
		}
		span.SetAttributes(attribute.String("interlock.job.id", string(a.Job)))
		span.AddLink(trace.Link{SpanContext: of})
		if a.New {
			_, root := t.tracer.Start(wanted(context.WithoutCancel(ctx), of), "job", trace.WithNewRoot(),
				trace.WithLinks(trace.Link{SpanContext: span.SpanContext()}), trace.WithAttributes(attribute.String("interlock.job.id", string(a.Job))))
			root.End()
		}
	}
}

// Attempt begins the span of an attempt, in the trace of its job.
func (t *Tracing) Attempt(ctx context.Context, c job.Claimed) (context.Context, func(outcome string)) {
	ctx, span := t.tracer.Start(trace.ContextWithRemoteSpanContext(ctx, jobSpan(c.Job.ID)), "attempt", trace.WithAttributes(
		attribute.String("interlock.job.id", string(c.Job.ID)), attribute.String("interlock.attempt.id", string(c.Attempt.ID)),
		attribute.Int("interlock.attempt.n", c.Attempt.N), attribute.String("interlock.provider", c.Attempt.Provider)))
	return ctx, func(outcome string) {
		span.SetAttributes(attribute.String("interlock.outcome", outcome))
		span.End()
	}
}

// Statements begins the span of one flight of statements. Those that belong to no
// request and no attempt (polling) have none.
func (t *Tracing) Statements(ctx context.Context, names string) func(error) {
	if !trace.SpanContextFromContext(ctx).IsValid() {
		return func(error) {}
	}
	_, span := t.tracer.Start(ctx, "postgresql "+names, trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(attribute.String("db.system.name", "postgresql"), attribute.String("db.operation.name", names)))
	return func(err error) {
		if err != nil {
			span.SetStatus(codes.Error, "") // the text may hold values
		}
		span.End()
	}
}

// jobSpan is where the trace of a job begins: its trace is the job's id, and its
// first span the second half of that.
func jobSpan(id job.ID) trace.SpanContext {
	u, err := uuid.Parse(string(id))
	if err != nil {
		return trace.SpanContext{}
	}
	return trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID(u), SpanID: trace.SpanID(u[8:]), TraceFlags: trace.FlagsSampled, Remote: true})
}

// parse reads 00-TRACE-SPAN-FLAGS. What is not that is no context. All is sampled:
// what to keep is the collector's business.
func parse(text string) trace.SpanContext {
	if len(text) != 55 {
		return trace.SpanContext{}
	}
	var c trace.SpanContextConfig
	_, err1 := hex.Decode(c.TraceID[:], []byte(text[3:35]))
	_, err2 := hex.Decode(c.SpanID[:], []byte(text[36:52]))
	if err1 != nil || err2 != nil {
		return trace.SpanContext{}
	}
	c.TraceFlags, c.Remote = trace.FlagsSampled, true
	return trace.NewSpanContext(c)
}
