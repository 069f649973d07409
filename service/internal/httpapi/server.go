package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/interlock-harness/interlock/service/internal/mutant"
)

// Config is what a Server is made of. Store, Contracts, Providers, Gate and Log
// are needed; the others have defaults.
type Config struct {
	Store     Store
	Contracts Contracts
	Providers Providers
	Gate      Gate
	Metrics   Metrics
	Scrape    http.Handler // /metrics
	Tracer    Tracer       // nil: no spans
	Ready     func(context.Context) []Check
	Limits    Limits
	Deadline  time.Duration // soft deadline where a job names none
	Log       *slog.Logger
	Mutant    mutant.Active

	// HealthOnly serves health, metrics and documents, for a process that is a
	// worker alone. The other parts are not needed then.
	HealthOnly bool
}

// Check is one condition of /readyz.
type Check struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail,omitempty"`
}

// Server answers the HTTP contract. It is an http.Handler, but Serve sets up
// the strict front that the contract needs.
type Server struct {
	store     Store
	contracts Contracts
	providers Providers
	gate      Gate
	metrics   Metrics
	scrape    http.Handler
	tracer    Tracer
	ready     func(context.Context) []Check
	limits    Limits
	deadline  time.Duration
	log       *slog.Logger
	mutant    mutant.Active
	faults    faults // what mutants remember; unused by the clean service

	routes   []route
	keys     *keyring
	rates    *rates
	streams  *streams
	pulse    *pulse
	draining chan struct{} // closed when the server begins to drain
	openAPI  []byte
}

// New makes a Server from a complete Config.
func New(cfg Config) *Server {
	if cfg.Metrics == nil {
		cfg.Metrics = noMetrics{}
	}
	if cfg.Limits == (Limits{}) {
		cfg.Limits = DefaultLimits()
	}
	if cfg.Deadline == 0 {
		cfg.Deadline = 30 * time.Second
	}
	s := &Server{
		store: cfg.Store, contracts: cfg.Contracts, providers: cfg.Providers, gate: cfg.Gate,
		metrics: cfg.Metrics, scrape: cfg.Scrape, tracer: cfg.Tracer, ready: cfg.Ready, limits: cfg.Limits,
		deadline: cfg.Deadline, log: cfg.Log, mutant: cfg.Mutant,
		routes: routes(), draining: make(chan struct{}),
		keys:    newKeyring(cfg.Store),
		rates:   newRates(cfg.Limits.Rate, cfg.Limits.Burst),
		streams: &streams{limit: cfg.Limits.Streams},
		pulse:   newPulse(cfg.Store),
	}
	if cfg.HealthOnly {
		s.routes = slices.DeleteFunc(s.routes, func(r route) bool { return r.access != everybody })
	}
	s.openAPI = OpenAPI()
	return s
}

type noMetrics struct{}

func (noMetrics) Submitted(string) {}
func (noMetrics) Refused(string)   {}
