package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
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
	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/report"
	"github.com/interlock-harness/interlock/harness/stage/process"
	"github.com/interlock-harness/interlock/scenarios"
)

// plainRun are the flags with which a process plays once, here, and nothing more:
// what the environment or a file of settings says otherwise is for its parent.
func plainRun(keep bool) []string {
	return []string{"--json", "--quiet", "--repeat=1", "--procs=1", "--until-violation=false", "--label=", "--github=false", "--keep=" + strconv.FormatBool(keep)}
}

// folder is where the process of a part leaves its report.
func (r *rounds) folder(p part) string { return filepath.Join(r.dir, "rounds", strconv.Itoa(p.n)) }

// play runs verify in a child process of this executable. The database's address
// goes through the environment.
func (r *rounds) play(ctx context.Context, p part) playedPart {
	out := playedPart{part: p}
	self, err := os.Executable()
	if err != nil {
		return r.broke(out, err.Error())
	}
	args := append([]string{"verify"}, p.slugs...)
	args = append(args, plainRun(r.v.keep)...)
	args = append(args, "--seed", strconv.FormatInt(p.seed, 10), "--out", r.folder(p), "--timeout", (r.limit + toEndChild).String())
	args = append(args, r.v.target.again()...)
	if r.v.servers.toxiproxy != "" {
		args = append(args, "--toxiproxy", r.v.servers.toxiproxy)
	}
	if r.v.mutant != "" {
		args = append(args, "--mutant", r.v.mutant)
	}
	child := exec.Command(self, args...)
	child.Env = os.Environ()
	if r.url != "" {
		child.Env = append(child.Env, "DATABASE_URL="+r.url, "INTERLOCK_PG_URL="+r.url)
	}
	said := &childTalk{to: r.v.s.err}
	stdout, into := io.Pipe()
	child.Stdout, child.Stderr = into, said
	var running *process.Process
	err = r.v.s.waits.start(func() (err error) {
		running, err = process.Start("verify", child, syscall.SIGTERM)
		return err
	})
	if err != nil {
		return r.broke(out, err.Error())
	}
	go func() {
		<-running.Done()
		_ = into.Close()
	}()
	end := sync.OnceFunc(func() {
		_ = running.Signal(syscall.SIGTERM)
		hurry := time.AfterFunc(toEndChild, func() { _ = running.SignalGroup(syscall.SIGKILL) })
		defer hurry.Stop()
		<-running.Done()
	})
	context.AfterFunc(ctx, end)
	defer r.v.s.waits.ask(running.Signal)()
	kept := r.listen(stdout, p)
	go func() { _, _ = io.Copy(io.Discard, stdout) }()
	if kept != nil { // it has written its report, and waits
		kept.end = end
		out.kept = kept
	} else {
		<-running.Done()
	}
	stored, err := report.Load(r.folder(p))
	if err != nil && ctx.Err() != nil { // it was ended before it had anything to say
		out.cut = true
		return out
	}
	if err != nil {
		return r.broke(out, lastLine(said.text(), errors.New(running.Exit())))
	}
	out.run = stored.Run
	for i := range out.run.Plays {
		r.v.place(&out.run.Plays[i], p)
	}
	out.cut = stored.Run.Interrupted || ctx.Err() != nil && kept == nil
	if lines, err := countLines(filepath.Join(r.folder(p), report.HistoryFile)); err == nil {
		out.events = lines
	}
	return out
}

// place says to which try a play belongs.
func (v *verification) place(play *report.Play, p part) {
	if play.Named == "" {
		play.Named = v.named(play.Slug)
	}
	if p.try == 0 {
		return
	}
	play.Try, play.Seed = p.try, p.seed
	if play.History != "" {
		play.History = report.TryOf(play.History, p.try)
	}
}

// listen reads what a process says, line by line, until it has ended or keeps its
// stage.
func (r *rounds) listen(stdout io.Reader, p part) *keptStage {
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var event struct {
			Type string `json:"type"`
			keptStage
			report.Play
		}
		if json.Unmarshal(lines.Bytes(), &event) != nil {
			continue
		}
		switch event.Type {
		case "play":
			r.v.place(&event.Play, p)
			r.heard(p, event.Play)
		case keptType:
			return &event.keptStage
		}
	}
	return nil
}

// broke is a part whose process left no report: none of its scenarios was judged.
func (r *rounds) broke(p playedPart, why string) playedPart {
	for _, slug := range p.slugs {
		i, _ := scenarios.Find(slug)
		play := report.Play{
			Slug: slug, Title: i.Title, Group: string(i.Group), Fault: i.Fault, Expect: i.Expect, MustBreak: i.MustBreak,
			Verdict: invariant.Infrastructure, Result: invariant.Result{Verdict: invariant.Infrastructure}, Trouble: why,
		}
		r.v.place(&play, p.part)
		p.run.Plays = append(p.run.Plays, play)
	}
	return p
}

// adopt moves the histories of the parts into one, judges each play by what is there
// now, and leaves only the logs of the processes.
func (r *rounds) adopt(folder *report.Folder, run *report.Run) error {
	var parts []history.Part
	for _, p := range r.done {
		events, err := history.ReadFile(filepath.Join(r.folder(p.part), report.HistoryFile))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		one := history.Part{}
		if p.try > 0 {
			one.Name = func(play string) string { return report.TryOf(play, p.try) }
		}
		for _, e := range events {
			if e.Scenario == "" && (e.Op == report.NoteRun || e.Op == report.NoteEnded) {
				if began, ok := report.BeganAt(e); ok {
					one.Began = began
				}
				continue // the whole has its own
			}
			one.Events = append(one.Events, e)
		}
		parts = append(parts, one)
	}
	folder.Recorder.Adopt(parts...)
	byPlay := report.ByPlay(folder.Recorder.Events())
	var histories []invariant.History
	for k := range r.done {
		for i := range r.done[k].run.Plays {
			play := &r.done[k].run.Plays[i]
			if events := byPlay[play.History]; play.History != "" {
				play.Result = invariant.Judge(events, run.Level, play.Expect)
				play.Verdict = invariant.Worse(play.Verdict, play.Result.Verdict)
				histories = append(histories, invariant.Open(events))
			}
			run.Plays = append(run.Plays, *play)
		}
	}
	run.Coverage = invariant.Coverage(histories...)
	return r.tidy()
}

// tidy keeps the logs of the processes that have ended, and removes the rest of their
// folders.
func (r *rounds) tidy() error {
	for _, p := range r.done {
		if p.kept == nil {
			if err := r.tidyOne(p.part); err != nil {
				return err
			}
		}
	}
	_ = os.Remove(filepath.Join(r.dir, "rounds")) // where it is empty
	return nil
}

// tidyKept does the same for the process that kept its stack, once it has ended.
func (r *rounds) tidyKept() error {
	for _, p := range r.done {
		if p.kept != nil {
			if err := r.tidyOne(p.part); err != nil {
				return err
			}
		}
	}
	_ = os.Remove(filepath.Join(r.dir, "rounds"))
	return nil
}

func (r *rounds) tidyOne(p part) error {
	if err := os.MkdirAll(filepath.Join(r.dir, "logs"), 0o755); err != nil {
		return err
	}
	err := os.Rename(filepath.Join(r.folder(p), "logs"), filepath.Join(r.dir, "logs", strconv.Itoa(p.n)))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.RemoveAll(r.folder(p))
}

func countLines(path string) (int, error) {
	text, err := os.ReadFile(path)
	return bytes.Count(text, []byte{'\n'}), err
}

// childTalk keeps what a process writes to standard error; what it says about waits,
// because somebody asked, is passed on at once.
type childTalk struct {
	to  io.Writer
	mu  sync.Mutex
	buf []byte
	all strings.Builder
}

func (t *childTalk) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, b...)
	for {
		i := slices.Index(t.buf, '\n')
		if i < 0 {
			return len(b), nil
		}
		line := string(t.buf[:i+1])
		t.buf = t.buf[i+1:]
		if strings.HasPrefix(line, waitsPrefix) {
			_, _ = io.WriteString(t.to, line)
			continue
		}
		t.all.WriteString(line)
	}
}

func (t *childTalk) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.all.String() + string(t.buf)
}
