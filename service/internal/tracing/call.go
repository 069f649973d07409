package tracing

import (
	"context"
	"net/url"
	"strconv"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/wire"
)

// vendors are the well-known values of gen_ai.provider.name, by protocol.
var vendors = map[providers.Protocol]string{
	providers.OpenAIChat: "openai", providers.OpenAIResponses: "openai", providers.AnthropicMessages: "anthropic",
	providers.Gemini: "gcp.gemini", providers.MistralChat: "mistral_ai", providers.CohereChat: "cohere",
	providers.BedrockConverse: "aws.bedrock", providers.OllamaChat: "ollama",
}

// Call begins the span of one call to a provider, with the names that
// OpenTelemetry gives to generative AI.
func (t *Tracing) Call(ctx context.Context, p providers.Profile, r providers.Request) (context.Context, func(providers.Transcript, error)) {
	about := []attribute.KeyValue{
		attribute.String("gen_ai.operation.name", "chat"), attribute.String("gen_ai.provider.name", vendors[p.Protocol]),
		attribute.String("gen_ai.request.model", r.Model), attribute.String("interlock.provider", p.Name),
	}
	if r.MaxOutputTokens != nil {
		about = append(about, attribute.Int64("gen_ai.request.max_tokens", *r.MaxOutputTokens))
	}
	if r.Temperature != nil {
		if f, err := r.Temperature.Float64(); err == nil {
			about = append(about, attribute.Float64("gen_ai.request.temperature", f))
		}
	}
	if u, err := url.Parse(p.BaseURL); err == nil {
		about = append(about, attribute.String("server.address", u.Hostname()))
		if port, err := strconv.Atoi(u.Port()); err == nil {
			about = append(about, attribute.Int("server.port", port))
		}
	}
	ctx, span := t.tracer.Start(ctx, "chat "+r.Model, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(about...))
	return ctx, func(got providers.Transcript, err error) {
		defer span.End()
		span.SetAttributes(answer(got, err)...)
		if err != nil || got.Status == 0 || got.Status >= 400 {
			span.SetStatus(codes.Error, "")
		}
	}
}

// answer is what came back, in numbers and words of the protocol.
func answer(t providers.Transcript, err error) []attribute.KeyValue {
	switch {
	case err != nil:
		return []attribute.KeyValue{attribute.String("error.type", "request")}
	case t.Status == 0:
		return []attribute.KeyValue{attribute.String("error.type", string(t.Reach)), attribute.String("interlock.reach", string(t.Reach))}
	}
	about := []attribute.KeyValue{attribute.Int("http.response.status_code", t.Status)}
	if t.Status/100 != 2 {
		return append(about, attribute.String("error.type", strconv.Itoa(t.Status)))
	}
	r := wire.Decode(t)
	if r.Model != "" {
		about = append(about, attribute.String("gen_ai.response.model", short(r.Model)))
	}
	if r.Finish != "" {
		about = append(about, attribute.StringSlice("gen_ai.response.finish_reasons", []string{short(r.Finish)}))
	}
	if r.Usage != nil && r.Usage.Input != nil {
		about = append(about, attribute.Int64("gen_ai.usage.input_tokens", *r.Usage.Input))
	}
	if r.Usage != nil && r.Usage.Output != nil {
		about = append(about, attribute.Int64("gen_ai.usage.output_tokens", *r.Usage.Output))
	}
	return about
}

// short bounds a word that a provider chose.
func short(s string) string { return s[:min(len(s), 128)] }
