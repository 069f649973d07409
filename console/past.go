package console

import (
	"cmp"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/interlock-harness/interlock/harness/report"
)

// maxRuns is how many past runs the page lists, the newest.
const maxRuns = 50

// pastRun is a report on disk.
type pastRun struct {
	Link, Verdict, Command string
	Started                time.Time
	Took                   time.Duration
	Seed                   int64
	Plays, Met             int
	Interrupted            bool
}

// archive lists the reports of a folder. A report does not change once it is
// written, so each is read once.
type archive struct {
	dir string

	mu   sync.Mutex
	read map[string]stamped // by the name of the folder
}

type stamped struct {
	run   pastRun
	size  int64
	wrote time.Time
}

// past lists the reports, newest first.
func (a *archive) past() []pastRun {
	entries, err := os.ReadDir(a.dir)
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
	a.mu.Lock()
	defer a.mu.Unlock()
	now := map[string]stamped{}
	var list []pastRun
	for _, name := range names {
		one, ok := a.load(name)
		if !ok {
			continue
		}
		now[name] = one
		if list = append(list, one.run); len(list) == maxRuns {
			break
		}
	}
	a.read = now
	slices.SortStableFunc(list, func(a, b pastRun) int { return cmp.Compare(b.Started.UnixNano(), a.Started.UnixNano()) })
	return list
}

func (a *archive) load(name string) (stamped, bool) {
	info, err := os.Stat(filepath.Join(a.dir, name, report.ReportFile))
	if err != nil {
		return stamped{}, false
	}
	if known, ok := a.read[name]; ok && known.size == info.Size() && known.wrote.Equal(info.ModTime()) {
		return known, true
	}
	stored, err := report.Load(filepath.Join(a.dir, name))
	if err != nil {
		return stamped{}, false
	}
	run := stored.Run
	one := pastRun{
		Link: "/runs/" + url.PathEscape(name) + "/report", Verdict: string(run.Verdict()), Started: run.Started, Took: time.Duration(run.Took), Seed: run.Seed,
		Plays: len(run.Plays), Interrupted: run.Interrupted, Command: report.Shell(append([]string{"interlock"}, run.Command...)...),
	}
	for _, p := range run.Plays {
		if p.Met() {
			one.Met++
		}
	}
	return stamped{one, info.Size(), info.ModTime()}, true
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
