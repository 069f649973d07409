// Package metrics counts what a process of the service does, for Prometheus.
//
// The names are part of the product. Labels have few values: no ids, no texts
// of clients, no messages; what comes from outside becomes a label only after
// it was found among the deployed names.
package metrics

import (
	"context"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/interlock-harness/interlock/service/internal/job"
)

// Figures are read from the store when Prometheus asks.
type Figures interface {
	Stats(ctx context.Context) (job.Stats, error)
}

// Expiry is when a trusted certificate ends.
type Expiry struct {
	Provider, Contract string
	At                 time.Time
}

// Metrics of one process.
type Metrics struct {
	registry  *prometheus.Registry
	submits   *prometheus.CounterVec
	refused   *prometheus.CounterVec
	durations *prometheus.HistogramVec
	late      *prometheus.CounterVec
	gate      *prometheus.CounterVec
}

// New returns metrics that read figures and certificates when they are asked.
func New(figures Figures, certificates func() []Expiry) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		submits: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "interlock_submits_total",
			Help: "Submits by outcome: new, replayed, or the problem."}, []string{"outcome"}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "interlock_refusals_total",
			Help: "Refused requests by problem."}, []string{"problem"}),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "interlock_attempt_duration_seconds",
			Help:    "Time from the claim of an attempt to the end of its call.",
			Buckets: []float64{.01, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600}}, []string{"provider", "outcome"}),
		late: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "interlock_late_results_discarded_total",
			Help: "Results that came after another had won, or after the end of their job."}, []string{"provider"}),
		gate: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "interlock_gate_decisions_total",
			Help: "Answers of the failover gate."}, []string{"from", "to", "contract", "answer", "reason"}),
	}
	m.registry.MustRegister(m.submits, m.refused, m.durations, m.late, m.gate, buildInfo(),
		&scraped{figures: figures, certificates: certificates},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Handler serves the text format.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError})
}

// Submitted counts a submit: new, replayed, or the suffix of a problem.
func (m *Metrics) Submitted(outcome string) { m.submits.WithLabelValues(outcome).Inc() }

// Refused counts a refused request.
func (m *Metrics) Refused(problem string) { m.refused.WithLabelValues(problem).Inc() }

// AttemptEnded counts a call. An outcome of "late" is a result that was dropped.
func (m *Metrics) AttemptEnded(provider, outcome string, took time.Duration) {
	m.durations.WithLabelValues(provider, outcome).Observe(took.Seconds())
	if outcome == "late" {
		m.late.WithLabelValues(provider).Inc()
	}
}

// GateDecision counts an answer of the gate; reason is the code of its first
// reason, empty for yes.
func (m *Metrics) GateDecision(from, to, contract string, allowed bool, reason string) {
	answer := "no"
	if allowed {
		answer = "yes"
	}
	m.gate.WithLabelValues(from, to, contract, answer, reason).Inc()
}

func buildInfo() prometheus.Collector {
	version, goVersion := "unknown", "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		version, goVersion = info.Main.Version, info.GoVersion
	}
	g := prometheus.NewGauge(prometheus.GaugeOpts{Name: "interlock_build_info", Help: "Always 1; the labels say what runs.",
		ConstLabels: prometheus.Labels{"version": version, "goversion": goVersion}})
	g.Set(1)
	return g
}
