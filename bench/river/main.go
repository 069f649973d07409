// Command river does with River what the bench of the service does with the
// service: unique jobs, and whole lives with a call of a provider and a stored
// output, on the database of DATABASE_URL. It is a module of its own, so that
// River is no dependency of the project.
//
// It prints one JSON object: jobs and lives a second. See `interlock bench service
// --river`.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

// toSettle bounds the wait for jobs that were begun.
const toSettle = 2 * time.Minute

// ask is a job: its key is what makes it unique.
type ask struct {
	Key  string `json:"key" river:"unique"`
	Text string `json:"text"`
}

func (ask) Kind() string { return "ask" }

// answerer calls the provider once, on a connection of its own, as the service does,
// and keeps what it says.
type answerer struct {
	river.WorkerDefaults[ask]
	provider string
	done     *atomic.Int64
}

func (w *answerer) Work(ctx context.Context, j *river.Job[ask]) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, w.provider, strings.NewReader(`{"text":"`+j.Args.Text+`"}`))
	if err != nil {
		return err
	}
	transport := &http.Transport{DisableKeepAlives: true}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return err
	}
	output, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if err != nil {
		return err
	}
	if err := river.RecordOutput(ctx, json.RawMessage(output)); err != nil {
		return err
	}
	w.done.Add(1)
	return nil
}

func main() {
	clients := flag.Int("clients", 32, "inserts at once")
	duration := flag.Duration("duration", 2*time.Second, "of each of the two measures")
	provider := flag.String("provider", "", "URL that each job is posted to")
	flag.Parse()
	if err := run(context.Background(), *clients, *duration, *provider); err != nil {
		fmt.Fprintln(os.Stderr, "river:", err)
		os.Exit(3)
	}
}

func run(ctx context.Context, clients int, duration time.Duration, provider string) error {
	config, err := pgxpool.ParseConfig(os.Getenv("DATABASE_URL"))
	if err != nil {
		return errors.New("DATABASE_URL cannot be read")
	}
	config.MaxConns = int32(clients + 16)
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return err
	}
	defer pool.Close()
	driver := riverpgxv5.New(pool)
	migrator, err := rivermigrate.New(driver, nil)
	if err != nil {
		return err
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return err
	}
	quiet := slog.New(slog.DiscardHandler)
	inserter, err := river.NewClient(driver, &river.Config{Logger: quiet})
	if err != nil {
		return err
	}
	jobs, _, err := insert(ctx, inserter, clients, duration, "new")
	if err != nil {
		return err
	}
	if _, err := pool.Exec(ctx, "DELETE FROM river_job"); err != nil {
		return err
	}
	lives, err := live(ctx, driver, quiet, clients, duration, provider)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]float64{"jobs": jobs, "lives": lives})
}

// live inserts for a while beside workers, and waits for the last job.
func live(ctx context.Context, driver *riverpgxv5.Driver, log *slog.Logger, clients int, duration time.Duration, provider string) (float64, error) {
	var done atomic.Int64
	workers := river.NewWorkers()
	river.AddWorker(workers, &answerer{provider: provider, done: &done})
	client, err := river.NewClient(driver, &river.Config{
		Logger: log, Workers: workers, Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 2 * clients}}, FetchCooldown: 5 * time.Millisecond, FetchPollInterval: 20 * time.Millisecond,
	})
	if err != nil {
		return 0, err
	}
	if err := client.Start(ctx); err != nil {
		return 0, err
	}
	begun := time.Now()
	_, n, err := insert(ctx, client, clients, duration, "life")
	for err == nil && done.Load() < n {
		if time.Since(begun) > toSettle {
			err = fmt.Errorf("%d of %d jobs are done after %s", done.Load(), n, toSettle)
		}
		time.Sleep(5 * time.Millisecond) // between two looks at something that will come
	}
	took := time.Since(begun)
	if stopErr := client.Stop(ctx); err == nil {
		err = stopErr
	}
	return float64(n) / took.Seconds(), err
}

// insert adds unique jobs for a while, and returns how many a second and in all.
func insert[T any](ctx context.Context, client *river.Client[T], clients int, duration time.Duration, prefix string) (rate float64, n int64, err error) {
	var count, number atomic.Int64
	var working sync.WaitGroup
	var mu sync.Mutex
	begun := time.Now()
	for range clients {
		working.Go(func() {
			for time.Since(begun) < duration {
				key := fmt.Sprint(prefix, "-", begun.UnixNano(), "-", number.Add(1))
				result, insertErr := client.Insert(ctx, ask{Key: key, Text: "The printer on floor 2 is out of paper."},
					&river.InsertOpts{UniqueOpts: river.UniqueOpts{ByArgs: true}})
				if insertErr == nil && result.UniqueSkippedAsDuplicate {
					insertErr = fmt.Errorf("key %s was there already", key)
				}
				if insertErr != nil {
					mu.Lock()
					err = insertErr
					mu.Unlock()
					return
				}
				count.Add(1)
			}
		})
	}
	working.Wait()
	return float64(count.Load()) / time.Since(begun).Seconds(), count.Load(), err
}
