package console

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
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

	"github.com/interlock-harness/interlock/harness/report"
	"github.com/interlock-harness/interlock/scenarios"
)

// maxRuns is how many past runs the page lists, the newest.
const maxRuns = 50

// toEnd is what a run that is interrupted has to write its report.
const toEnd = 15 * time.Second

// runs are the runs of scenarios: those whose reports lie in the folder, and the
// one that was started here.
type runs struct {
	*Console

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
	Slug    string `json:"slug"`
	Text    string `json:"text"`
	Verdict string `json:"verdict"`
	TookMS  int64  `json:"took_ms"`
}

// pastRun is a report on disk.
type pastRun struct {
	Folder, Verdict, Command string
	Started                  time.Time
	Took                     time.Duration
	Seed                     int64
	Plays, Met               int
	Interrupted              bool
}

func newRuns(c *Console) *runs { return &runs{Console: c} }

var errRunning = errors.New("a run is under way: wait for its end")

// start begins a run of one scenario, or of all.
func (r *runs) start(slug string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.current != nil && r.current.Ended.IsZero() {
		return errRunning
	}
	args := []string{"verify"}
	if slug != "" {
		if _, ok := scenarios.Find(slug); !ok {
			return fmt.Errorf("there is no scenario %s", report.Untrusted(slug).Terminal())
		}
		args = append(args, slug)
	}
	args = append(args, "--seed", strconv.FormatInt(r.o.Seed, 10))
	began := time.Now()
	r.n++
	out := filepath.Join(r.o.Runs, fmt.Sprintf("%s-%d-console-%d", began.UTC().Format("20060102-150405"), r.o.Seed, r.n))
	ctx, stop := context.WithCancel(r.ctx)
	command := append(slices.Clone(r.o.Command), args...)
	cmd := exec.CommandContext(ctx, command[0], append(command[1:], "--json", "--quiet", "--out", out)...)
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
	go func() {
		defer close(run.finished)
		defer stop()
		lines := bufio.NewScanner(stdout)
		lines.Buffer(nil, 4<<20)
		for lines.Scan() {
			r.heard(run, lines.Bytes())
		}
		err := cmd.Wait()
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

// heard takes one line of verify --json.
func (r *runs) heard(run *running, line []byte) {
	var one struct {
		Type string `json:"type"`
		play
	}
	if json.Unmarshal(line, &one) != nil {
		return
	}
	r.mu.Lock()
	switch one.Type {
	case "play":
		run.Plays = append(run.Plays, one.play)
	case "run":
		run.Verdict = one.Verdict
	}
	r.mu.Unlock()
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

// past lists the reports in the folder, newest first.
func (r *runs) past() []pastRun {
	entries, err := os.ReadDir(r.o.Runs)
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() { // "latest" is a link
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	slices.Reverse(names)
	var list []pastRun
	for _, name := range names {
		if one, ok := readRun(filepath.Join(r.o.Runs, name)); ok {
			if list = append(list, one); len(list) == maxRuns {
				break
			}
		}
	}
	slices.SortStableFunc(list, func(a, b pastRun) int { return cmp.Compare(b.Started.UnixNano(), a.Started.UnixNano()) })
	return list
}

func readRun(dir string) (pastRun, bool) {
	stored, err := report.Load(dir)
	if err != nil {
		return pastRun{}, false
	}
	run := stored.Run
	one := pastRun{
		Folder: filepath.Base(dir), Verdict: string(run.Verdict()), Started: run.Started, Took: time.Duration(run.Took), Seed: run.Seed,
		Plays: len(run.Plays), Interrupted: run.Interrupted, Command: report.Shell(append([]string{"interlock"}, run.Command...)...),
	}
	for _, p := range run.Plays {
		if p.Met() {
			one.Met++
		}
	}
	return one, true
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
	v := runsView{Now: c.runs.now(), Past: c.runs.past(), Folder: c.o.Runs}
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
	return page{Name: "runs", Title: "Runs", Topics: "run", View: v}
}

// onRun starts a run, or stops it.
func (c *Console) onRun(r *http.Request) answer {
	if r.PathValue("verb") == "stop" {
		run := c.runs.now()
		if run == nil || !run.Ended.IsZero() {
			return bad("No run is under way.")
		}
		run.stop()
		return answer{Sentence: "The run is asked to end; it takes its stage down and writes what it has."}
	}
	if err := c.runs.start(r.PostFormValue("scenario")); err != nil {
		return bad("%v.", err)
	}
	return answer{Sentence: "The run has begun, on a stage of its own."}
}

// reportPolicy keeps a report, whose texts come from others, apart from the
// console: it may run its own script and reach nothing of ours.
const reportPolicy = "sandbox allow-scripts allow-downloads; frame-ancestors 'none'"

// serveReport serves report.html of a run. Its own policy allows its script.
func (c *Console) serveReport(w http.ResponseWriter, r *http.Request) {
	root, err := os.OpenRoot(c.o.Runs)
	if err == nil {
		defer func() { _ = root.Close() }()
		var text []byte
		if text, err = fs.ReadFile(root.FS(), filepath.ToSlash(filepath.Join(r.PathValue("folder"), report.HTMLFile))); err == nil {
			w.Header().Set("Content-Security-Policy", reportPolicy)
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = w.Write(text)
			return
		}
	}
	c.show(w, page{Name: "missing", Title: "No such report", Status: http.StatusNotFound, View: "There is no report of that name in " + c.o.Runs + "."})
}
