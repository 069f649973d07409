package service

import (
	"context"
	"net/url"
	"runtime/debug"
	"strings"

	"github.com/interlock-harness/interlock/service/internal/tracing"
)

// collector says where traces go: --otlp-endpoint, else the variables that
// OpenTelemetry names. Without one there are no traces, and nothing is spent on
// them. Endpoints are those of OTLP over HTTP.
func collector(c *config, getenv func(string) (string, bool)) (*tracing.Options, error) {
	if off, _ := getenv("OTEL_SDK_DISABLED"); strings.EqualFold(off, "true") {
		return nil, nil
	}
	endpoint, from := c.OTLPEndpoint, "--otlp-endpoint"
	for _, variable := range []string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"} {
		if value, ok := getenv(variable); ok && endpoint == "" {
			endpoint, from = strings.TrimSuffix(value, "/v1/traces"), variable
		}
	}
	if endpoint == "" {
		return nil, nil
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" {
		return nil, usage("%s must look like http://host:4318 (OTLP over HTTP); credentials go into OTEL_EXPORTER_OTLP_HEADERS", from)
	}
	o := &tracing.Options{Endpoint: endpoint, Headers: map[string]string{}, Version: "unknown"}
	if info, ok := debug.ReadBuildInfo(); ok {
		o.Version = info.Main.Version
	}
	list, _ := getenv("OTEL_EXPORTER_OTLP_HEADERS")
	for pair := range strings.SplitSeq(list, ",") {
		if pair = strings.TrimSpace(pair); pair == "" {
			continue
		}
		name, value, ok := strings.Cut(pair, "=")
		decoded, err := url.PathUnescape(strings.TrimSpace(value))
		if !ok || err != nil || strings.TrimSpace(name) == "" {
			return nil, usage("OTEL_EXPORTER_OTLP_HEADERS must look like name=value,name=value (it is not shown, it may hold a key)")
		}
		o.Headers[strings.TrimSpace(name)] = decoded
	}
	return o, nil
}

// startTracing begins to export, where a collector is named.
func (p *process) startTracing(ctx context.Context, o *tracing.Options) error {
	if o == nil {
		return nil
	}
	o.Log = p.log
	t, err := tracing.Start(ctx, *o)
	if err != nil {
		return usage("tracing cannot start: %s", oneLine(err.Error()))
	}
	p.tracing, p.deployed.tracing = t, t
	return nil
}
