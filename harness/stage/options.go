package stage

import (
	"io/fs"
	"reflect"
	"time"

	"github.com/interlock-harness/interlock/harness/edge"
	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/target"
	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/standin"
)

// Bounds of everything that waits. Scenarios have their own.
const (
	toStart = 30 * time.Second // a child process, until it is ready
	toStop  = 5 * time.Second  // a child process, after being asked to end
	toClose = 20 * time.Second // the whole stage
	between = 5 * time.Millisecond
)

// Options say what stage is wanted. The zero value asks for everything
// embedded: a private PostgreSQL, Toxiproxy inside the process, stand-in
// providers, and the service as children of this executable.
type Options struct {
	Out       string            // folder for logs; "" keeps none
	Recorder  *history.Recorder // of the run; nil keeps the history in memory
	PGURL     string            // use this PostgreSQL server, in a throw-away database
	PGCache   string            // where an initialised cluster is kept: see pgserver.Options
	Toxiproxy string            // control API of a stand-alone Toxiproxy to use
	Durable   bool              // fsync on, as in production; a crash without a power cut loses nothing without it
	Keep      bool              // leave the databases behind: a private server is stopped, and its folder stays
	Note      func(string)      // told in one line what a user should know

	// Command starts the target; nil is this executable. It is called with
	// "serve" and "migrate" and the flags of the reference service.
	Command []string
	// Foreign is a target that somebody else runs; nil for the service of this
	// executable. Then nothing is started but the stand-ins and the edges.
	Foreign *Foreign
	// Service is how the shared service runs, and the default of isolated ones.
	Service ServiceOptions
	// Providers are the stand-ins; nil is OpenAI and Anthropic.
	Providers []Provider
	// Answers is what the stand-ins answer by themselves; nil is the smallest
	// answer that the contract's schema allows.
	Answers func(standin.Ask) string
	// Intent makes an intent that the target accepts, whose prompt holds text;
	// nil is DemoIntent.
	Intent func(text string) target.Intent
	// Files holds the folder contracts, and a file profiles/NAME.yaml for each
	// provider; nil is the fixtures of this project.
	Files fs.FS
	// Configure may add to the configuration before any service reads it, for
	// example certificates for the profiles as they are written there.
	Configure func(Config) error
	// Owners is how many owners have a key, 400 by default. Each world uses up
	// a few.
	Owners int
}

// Provider describes one stand-in.
type Provider struct {
	Name     string
	Protocol providers.Protocol
}

// DemoIntent asks OpenAI for the triage of a message.
func DemoIntent(text string) target.Intent {
	return target.Intent{
		Contract: "triage", Provider: OpenAI,
		Input: map[string]any{"text": "The printer on floor 2 is out of paper. Reference " + text},
	}
}

// over fills zero fields from other.
func (o ServiceOptions) over(other ServiceOptions) ServiceOptions {
	result, fallback := reflect.ValueOf(&o).Elem(), reflect.ValueOf(other)
	for i := range result.NumField() {
		if result.Field(i).CanSet() && result.Field(i).IsZero() {
			result.Field(i).Set(fallback.Field(i))
		}
	}
	return o
}

// Names of the stand-ins that every stage has.
const (
	OpenAI    = "openai-demo"
	Anthropic = "anthropic-demo"
)

func demoProviders() []Provider {
	return []Provider{
		{Name: OpenAI, Protocol: providers.OpenAIChat},
		{Name: Anthropic, Protocol: providers.AnthropicMessages},
	}
}

// ServiceOptions say how one service runs. Zero fields take the defaults.
type ServiceOptions struct {
	Replicas    int           // API processes: 2
	Workers     int           // worker processes: 1; -1 for none
	Deadline    time.Duration // soft deadline where a job names none: 400 ms
	HardLimit   time.Duration // of one provider call: 30 s
	Lease       time.Duration // 2 s
	Heartbeat   time.Duration // 400 ms
	Poll        time.Duration // 10 ms
	Reap        time.Duration // 50 ms
	Grace       time.Duration // shutdown grace: 5 s
	MaxAttempts int           // 8
	Concurrency int           // 16
	Mutant      string        // run this mutant
	Direct      bool          // without the relay in front of PostgreSQL: no commit faults
	OwnServer   bool          // its database is on a PostgreSQL server of its own: see World.CrashPostgres
	Clock       bool          // its database's clock can be set: see World.JumpClock
	// TLS puts a TLS listener with a flaw in front of these providers, for a
	// service of its own: see World.TLS.
	TLS  map[string]edge.Flaw
	Args []string // further flags of serve
	Env  []string // further environment
	// routes are base URLs of providers that differ from those of the stage.
	routes map[string]string
}

func (o ServiceOptions) filled() ServiceOptions {
	set := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	count := func(n *int, v int) {
		if *n == 0 {
			*n = v
		}
	}
	count(&o.Replicas, 2)
	count(&o.Workers, 1)
	set(&o.Deadline, 400*time.Millisecond)
	set(&o.HardLimit, 30*time.Second)
	set(&o.Lease, 2*time.Second)
	set(&o.Heartbeat, 400*time.Millisecond)
	set(&o.Poll, 10*time.Millisecond)
	set(&o.Reap, 50*time.Millisecond)
	set(&o.Grace, 5*time.Second)
	count(&o.MaxAttempts, 8)
	count(&o.Concurrency, 16)
	return o
}
