package tracing

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// toExport bounds one export.
const toExport = 10 * time.Second

// exporter sends spans as OTLP over HTTP in JSON. The ready-made exporters bring
// gRPC and its start-up cost into every command of this program, see
// docs/decisions/0003-otlp-json.md.
type exporter struct {
	url     string
	headers map[string]string
	client  *http.Client
	worked  func()
}

func newExporter(o Options, worked func()) *exporter {
	return &exporter{url: strings.TrimRight(o.Endpoint, "/") + "/v1/traces", headers: o.Headers, worked: worked,
		client: &http.Client{
			Timeout:       toExport,
			Transport:     &http.Transport{MaxIdleConnsPerHost: 1, IdleConnTimeout: time.Minute}, // no proxy from the environment
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}}
}

// ExportSpans implements sdk.SpanExporter.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	if len(spans) == 0 {
		return nil
	}
	text, err := json.Marshal(encode(spans))
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(text))
	if err != nil {
		return errors.New("the address of the collector cannot be used")
	}
	request.Header.Set("Content-Type", "application/json")
	for name, value := range e.headers {
		request.Header.Set(name, value)
	}
	response, err := e.client.Do(request)
	if err != nil {
		return fmt.Errorf("the collector does not answer: %w", err)
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 64<<10))
	_ = response.Body.Close()
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("the collector answers %d to %d spans", response.StatusCode, len(spans))
	}
	e.worked()
	return nil
}

// Shutdown implements sdk.SpanExporter.
func (e *exporter) Shutdown(context.Context) error {
	e.client.CloseIdleConnections()
	return nil
}

type object map[string]any

// encode writes spans of one process as an ExportTraceServiceRequest: ids in
// hexadecimal, times as decimal strings of nanoseconds, 64-bit numbers as strings.
func encode(spans []sdk.ReadOnlySpan) object {
	list := make([]object, len(spans))
	for i, s := range spans {
		o := object{
			"traceId": s.SpanContext().TraceID().String(), "spanId": s.SpanContext().SpanID().String(), "name": s.Name(), "kind": kinds[s.SpanKind()],
			"startTimeUnixNano": nano(s.StartTime()), "endTimeUnixNano": nano(s.EndTime()), "attributes": attributes(s.Attributes()),
		}
		if s.Parent().HasSpanID() {
			o["parentSpanId"] = s.Parent().SpanID().String()
		}
		links := make([]object, len(s.Links()))
		for n, l := range s.Links() {
			links[n] = object{"traceId": l.SpanContext.TraceID().String(), "spanId": l.SpanContext.SpanID().String()}
		}
		o["links"] = links
		if s.Status().Code == codes.Error {
			o["status"] = object{"code": 2}
		}
		list[i] = o
	}
	return object{"resourceSpans": []object{{
		"resource":   object{"attributes": attributes(spans[0].Resource().Attributes())},
		"scopeSpans": []object{{"scope": object{"name": spans[0].InstrumentationScope().Name}, "spans": list}},
	}}}
}

// kinds are the numbers of OTLP, which differ from those of the SDK.
var kinds = map[trace.SpanKind]int{trace.SpanKindInternal: 1, trace.SpanKindServer: 2, trace.SpanKindClient: 3}

func nano(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }

func attributes(all []attribute.KeyValue) []object {
	list := make([]object, len(all))
	for i, a := range all {
		list[i] = object{"key": string(a.Key), "value": value(a.Value)}
	}
	return list
}

func value(v attribute.Value) object {
	switch v.Type() {
	case attribute.BOOL:
		return object{"boolValue": v.AsBool()}
	case attribute.INT64:
		return object{"intValue": strconv.FormatInt(v.AsInt64(), 10)}
	case attribute.FLOAT64:
		return object{"doubleValue": v.AsFloat64()}
	case attribute.STRINGSLICE:
		var list []object
		for _, s := range v.AsStringSlice() {
			list = append(list, object{"stringValue": s})
		}
		return object{"arrayValue": object{"values": list}}
	}
	return object{"stringValue": v.Emit()}
}
