package console

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/report"
	"github.com/interlock-harness/interlock/scenarios"
)

// glance is the time between two looks at the history of a run.
const glance = 100 * time.Millisecond

// toEnd is what a run that is interrupted has to write its report.
const toEnd = 15 * time.Second

// runs are the runs of scenarios: those whose reports lie in the folder, and the
// one that was started here.
type runs struct {
	*Console
	archive archive
	live    live

	mu      sync.Mutex
	current *running
	n       int
}

// running is a run that was started here: verify, as a process of its own.
type running struct {
	N        int
	Slug     string
	Began    time.Time
	Ended    time.Time // zero while it runs
	Plays    []play
	Verdict  string
	Report   string // folder of its report, below the folder of runs
	Trouble  string
	Command  string
	stop     context.CancelFunc
	finished chan struct{}
}

// play is one spec as verify --json tells of it.
type play struct {
	Slug, Text, Verdict string
	TookMS              int64
}

func newRuns(c *Console) *runs { return &runs{Console: c, archive: archive{dir: c.o.Runs}} }

// Why the console does not start or stop a run.
var (
	errRunning = errors.New("a run is under way: wait for its end, or stop it")
	errIdle    = errors.New("no run is under way")
	errUnknown = errors.New("there is no scenario")
)

// start begins a run of one scenario, or of all. It returns errRunning or
// errUnknown where there is none to begin.
func (r *runs) start(slug string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.current != nil && r.current.Ended.IsZero() {
		return errRunning
	}
	args := []string{"verify"}
	if slug != "" {
		if _, ok := scenarios.Find(slug); !ok {
			return fmt.Errorf("%w %s", errUnknown, report.Untrusted(slug).Terminal())
		}
		args = append(args, slug)
	}
	args = append(args, "--seed", strconv.FormatInt(r.o.Seed, 10))
	began := time.Now()
	r.n++
	out := filepath.Join(r.o.Runs, fmt.Sprintf("%s-%d-console-%d", began.UTC().Format("20060102-150405"), r.o.Seed, r.n))
	ctx, stop := context.WithCancel(r.ctx)
	command := append(slices.Clone(r.o.Command), args...)
	command = append(command, "--json", "--quiet", "--config", os.DevNull)
	if r.o.Toxiproxy != "" {
		command = append(command, "--toxiproxy", r.o.Toxiproxy)
	}
	cmd := exec.CommandContext(ctx, command[0], append(command[1:], "--out", out)...)
	cmd.Env = r.environment()
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // it takes its stage down
	cmd.WaitDelay = toEnd
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		stop()
		return err
	}
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		stop()
		return fmt.Errorf("the run could not be started: %w", err)
	}
	run := &running{N: r.n, Slug: slug, Began: began, Command: report.Shell(append([]string{"interlock"}, args...)...), stop: stop, finished: make(chan struct{})}
	r.current = run
	r.live.follow(run.N, filepath.Join(out, report.HistoryFile))
	go func() {
		defer close(run.finished)
		defer stop()
		var watching sync.WaitGroup
		watching.Go(func() { r.watchRun(ctx) })
		eachLine(stdout, func(line []byte) { r.heard(run, line) })
		err := cmd.Wait()
		stop()
		watching.Wait()
		r.live.end()
		r.hub.tell("lanes", "")
		r.mu.Lock()
		run.Ended = time.Now()
		if run.Verdict == "" {
			run.Trouble = strings.TrimSpace(said.String())
			if err != nil && run.Trouble == "" {
				run.Trouble = err.Error()
			}
		} else if _, err := os.Stat(filepath.Join(out, report.HTMLFile)); err == nil {
			run.Report = filepath.Base(out)
		}
		r.mu.Unlock()
		r.hub.tell("run", "")
	}()
	r.hub.tell("run", "")
	return nil
}

// environment is that of a run: what would set a flag of verify is left out, and
// the database is the one of the console. So a run does what the page says.
func (r *runs) environment() []string {
	env := slices.DeleteFunc(os.Environ(), func(pair string) bool {
		return strings.HasPrefix(pair, "INTERLOCK_") || strings.HasPrefix(pair, "DATABASE_URL=")
	})
	if r.o.PGURL != "" {
		env = append(env, "DATABASE_URL="+r.o.PGURL)
	}
	return env
}

// watchRun tells the pages when the run has recorded something, until ctx ends.
func (r *runs) watchRun(ctx context.Context) {
	tick := time.NewTicker(glance)
	defer tick.Stop()
	for {
		if r.live.look() {
			r.hub.tell("lanes", "")
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// maxHeard bounds a line of verify --json. A play with more to say about it is
// judged in the report alone.
const maxHeard = 4 << 20

// eachLine hands on the lines of r, without those that are too long: who writes
// them must not wait for us.
func eachLine(r io.Reader, take func([]byte)) {
	in := bufio.NewReaderSize(r, 64<<10)
	var line []byte
	long := false
	for {
		piece, more, err := in.ReadLine()
		if err != nil {
			return
		}
		if long = long || len(line)+len(piece) > maxHeard; !long {
			line = append(line, piece...)
		}
		if more {
			continue
		}
		if !long {
			take(line)
		}
		line, long = nil, false
	}
}

// heard takes one line of verify --json.
func (r *runs) heard(run *running, line []byte) {
	var one struct {
		Type string `json:"type"`
		report.Play
	}
	if json.Unmarshal(line, &one) != nil {
		return
	}
	switch one.Type {
	case "play":
		r.live.judged(one.Play)
		r.hub.tell("lanes", "")
		r.mu.Lock()
		run.Plays = append(run.Plays, play{one.Slug, one.Text, string(one.Verdict), time.Duration(one.Took).Milliseconds()})
		r.mu.Unlock()
	case "run":
		r.mu.Lock()
		run.Verdict = string(one.Verdict)
		r.mu.Unlock()
	}
	r.hub.tell("run", "")
}

// now copies the run that was started last.
func (r *runs) now() *running {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.current == nil {
		return nil
	}
	one := *r.current
	one.Plays = slices.Clone(r.current.Plays)
	return &one
}

// close ends a run that is under way, and waits until its stage is down.
func (r *runs) close() {
	r.mu.Lock()
	run := r.current
	r.mu.Unlock()
	if run == nil {
		return
	}
	run.stop()
	<-run.finished
}

// runsView is the page of runs.
type runsView struct {
	Now       *running
	Past      []pastRun
	Groups    []scenarioGroup
	Folder    string
	Scenarios int
}

type scenarioGroup struct {
	Name string
	List []scenarios.Info
}

func (c *Console) runsPage(*http.Request) page {
	v := runsView{Now: c.runs.now(), Past: c.runs.archive.past(), Folder: c.o.Runs}
	all := scenarios.All()
	v.Scenarios = len(all)
	for _, g := range scenarios.Groups() {
		group := scenarioGroup{Name: string(g)}
		for _, i := range all {
			if i.Group == g {
				group.List = append(group.List, i)
			}
		}
		if len(group.List) > 0 {
			v.Groups = append(v.Groups, group)
		}
	}
	return page{Name: "runs", Title: "Runs", Topics: "run", Lanes: true, View: v}
}

// onRun starts a run, or stops it.
func (c *Console) onRun(r *http.Request) answer {
	verb := r.PathValue("verb")
	switch verb {
	case "start":
		if err := c.runs.start(r.PostFormValue("scenario")); err != nil {
			return refuse(verb, err)
		}
		return answer{Sentence: "The run has begun, on a stage of its own. Its lanes are drawn below as it records them."}
	case "stop":
		run := c.runs.now()
		if run == nil || !run.Ended.IsZero() {
			return refuse(verb, errIdle)
		}
		run.stop()
		return answer{Sentence: "The run is asked to end; it takes its stage down and writes what it has."}
	}
	return bad("There is nothing called %s here.", report.Untrusted(verb).Terminal())
}

// refuse is what the console says where it does not do what was asked: a problem
// with a status, as the service does.
func refuse(verb string, err error) answer {
	status := http.StatusInternalServerError
	switch {
	case errors.Is(err, errUnknown):
		status = http.StatusBadRequest
	case errors.Is(err, errRunning), errors.Is(err, errIdle):
		status = http.StatusConflict
	}
	detail := err.Error()
	body, _ := json.Marshal(struct {
		Type   string `json:"type"`
		Title  string `json:"title"`
		Status int    `json:"status"`
		Detail string `json:"detail"`
	}{"about:blank", http.StatusText(status), status, detail}) // of strings and a number
	a := bad("%s.", detail)
	a.Status = status
	a.Replies = []reply{{Actor: "you", Method: http.MethodPost, Path: "/runs/" + verb, Status: status, Own: true, Body: string(body), Problem: history.Problem{Detail: detail}}}
	return a
}
