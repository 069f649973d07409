package metrics

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/interlock-harness/interlock/service/internal/job"
)

// toScrape bounds the statement behind one scrape.
const toScrape = 2 * time.Second

var (
	attempts = prometheus.NewDesc("interlock_attempts", "Open attempts by state.", []string{"state"}, nil)
	unknown  = prometheus.NewDesc("interlock_unknown_oldest_age_seconds", "Age of the oldest attempt whose outcome is not known; 0 where there is none.", nil, nil)
	waiting  = prometheus.NewDesc("interlock_starting_oldest_age_seconds", "Age of the oldest attempt that no worker claimed; 0 where there is none.", nil, nil)
	expires  = prometheus.NewDesc("interlock_certificate_expires_timestamp_seconds", "End of the newest trusted certificate.", []string{"provider", "contract"}, nil)
	reached  = prometheus.NewDesc("interlock_store_up", "1 when the figures of this scrape came from the database.", nil, nil)
)

// scraped asks store and certificates at each scrape, so that no figure is older
// than its reading.
type scraped struct {
	figures      Figures
	certificates func() []Expiry
}

func (s *scraped) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{attempts, unknown, waiting, expires, reached} {
		ch <- d
	}
}

func (s *scraped) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), toScrape)
	defer cancel()
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	stats, err := s.figures.Stats(ctx)
	if err != nil {
		gauge(reached, 0)
	} else {
		gauge(reached, 1)
		for _, state := range []job.State{job.StateStarting, job.StateRunning, job.StateUnknown} {
			gauge(attempts, float64(stats.Attempts[state]), string(state))
		}
		gauge(unknown, stats.OldestUnknown.Seconds())
		gauge(waiting, stats.OldestWaiting.Seconds())
	}
	newest := map[[2]string]time.Time{}
	for _, c := range s.certificates() {
		key := [2]string{c.Provider, c.Contract}
		if c.At.After(newest[key]) {
			newest[key] = c.At
		}
	}
	for key, at := range newest {
		gauge(expires, float64(at.Unix()), key[0], key[1])
	}
}
