package stage

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/interlock-harness/interlock/harness/history"
)

// toScrape bounds one look at the figures of a process.
const toScrape = 5 * time.Second

// Metric sums the samples of a process's /metrics with this name, whatever
// their labels; 0 when it shows none.
func (p *Process) Metric(ctx context.Context, name string) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, toScrape)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.URL()+"/metrics", nil)
	if err != nil {
		return 0, err
	}
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		return 0, fmt.Errorf("figures of %s: %w", p.Name, err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("figures of %s: status %d", p.Name, resp.StatusCode)
	}
	return sample(resp.Body, name)
}

// sample sums the samples called name in the Prometheus text format.
func sample(text io.Reader, name string) (sum float64, err error) {
	lines := bufio.NewScanner(text)
	for lines.Scan() {
		line := lines.Text()
		if !strings.HasPrefix(line, name) || len(line) == len(name) || line[len(name)] != ' ' && line[len(name)] != '{' {
			continue
		}
		value, err := strconv.ParseFloat(line[strings.LastIndexByte(line, ' ')+1:], 64)
		if err != nil {
			return 0, fmt.Errorf("figure %q: %w", line, err)
		}
		sum += value
	}
	return sum, lines.Err()
}

// Metric sums a figure over all processes of the service that run.
func (v *Service) Metric(ctx context.Context, name string) (sum float64, err error) {
	for _, p := range v.Processes() {
		if !p.Running() {
			continue
		}
		n, err := p.Metric(ctx, name)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

// Resources is what a process holds now: goroutines and open files, by its own
// figures.
func (p *Process) Resources(ctx context.Context) (history.ResourceFacts, error) {
	goroutines, err := p.Metric(ctx, "go_goroutines")
	if err != nil {
		return history.ResourceFacts{}, err
	}
	files, err := p.Metric(ctx, "process_open_fds")
	return history.ResourceFacts{Goroutines: int(goroutines), Files: int(files)}, err
}
