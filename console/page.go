package console

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/interlock-harness/interlock/harness/report"
)

//go:embed templates/*.tmpl
var templateFiles embed.FS

//go:embed assets/*
var assetFiles embed.FS

// page is one page with the frame around it.
type page struct {
	Name   string // its template, and its entry in the menu
	Title  string
	View   any
	Answer *answer // to the form that was sent without a script
	Topics string  // what it shows: messages of these kinds make it read itself again
	Lanes  bool    // it draws the lanes of a run
	Status int
	frame
}

// frame is what every page shows.
type frame struct {
	Menu    []entry
	Seed    int64
	Stage   string
	Service string // base URL of the service
	Console string // name of this run of the console
	Trouble string // the database does not answer
	Faults  int    // in place
	Unknown int    // jobs with an attempt of which nobody knows
	Held    int    // calls that wait to be let go
}

type entry struct {
	Path, Name, Icon string
	Here             bool
	Count            int
	What             string // is counted
}

// answer is what a click brought.
type answer struct {
	Sentence string
	Bad      bool // the click could not be carried out at all
	Status   int  // of the page that comes back, where it is not 200
	Replies  []reply
	Job      string // that the page goes on with
	Go       string // page to go on with
}

func bad(format string, args ...any) answer {
	text := fmt.Sprintf(format, args...)
	return answer{Bad: true, Sentence: strings.ToUpper(text[:1]) + text[1:]}
}

// pages are the templates by the name of their page.
var pages = parse()

func parse() map[string]*template.Template {
	all := map[string]*template.Template{}
	frame := template.Must(template.New("frame").Funcs(functions).ParseFS(templateFiles, "templates/frame.tmpl", "templates/parts.tmpl", "templates/lanes.tmpl"))
	files, err := fs.Glob(templateFiles, "templates/page-*.tmpl")
	if err != nil {
		panic(err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(path.Base(file), "page-"), ".tmpl")
		all[name] = template.Must(template.Must(frame.Clone()).ParseFS(templateFiles, file))
	}
	return all
}

// functions of the templates. Text from outside goes through shown, line or
// lines: html/template keeps markup harmless, they keep control and direction
// characters visible.
var functions = template.FuncMap{
	"shown": func(text string) string { return report.Untrusted(text).Terminal() },
	"line":  func(text string) string { return report.Untrusted(text).Line() },
	"lines": func(text string) string {
		list := strings.Split(indented(text), "\n")
		for i := range list {
			list[i] = report.Untrusted(list[i]).Line()
		}
		return clip(strings.Join(list, "\n"))
	},
	"raw":   func(text json.RawMessage) string { return string(text) },
	"short": short,
	"sign":  func(state string) string { return signs[state] },
	"known": known, // of a state that names a class
	"clock": func(t time.Time) string { return t.UTC().Format("15:04:05") },
	"since": func(t, from time.Time) string { return span(t.Sub(from)) },
	"span":  span,
	"unix":  func(t time.Time) int64 { return t.UnixMilli() },
	"dict": func(pairs ...any) map[string]any {
		m := map[string]any{}
		for i := 0; i+1 < len(pairs); i += 2 {
			m[pairs[i].(string)] = pairs[i+1]
		}
		return m
	},
}

// maxText bounds a body that a page shows.
const maxText = 8 << 10

func clip(text string) string {
	if len(text) <= maxText {
		return text
	}
	return strings.ToValidUTF8(text[:maxText], "") + "\n… cut here"
}

// short is the end of an id, which is what differs.
func short(id string) string {
	if len(id) > 8 {
		id = "…" + id[len(id)-6:]
	}
	return report.Untrusted(id).Terminal()
}

// span is a duration for people: 34 ms, 2.31 s, 4 min 10 s.
func span(d time.Duration) string {
	switch {
	case d < 0:
		return "-" + span(-d)
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.2f s", d.Seconds())
	}
	return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
}

// signs stand beside the words of states: no colour alone says anything.
var signs = map[string]string{
	"open": "○", "starting": "◌", "running": "▸", "unknown": "?", "released": "⇢", "succeeded": "✓", "lost": "↯", "failed": "✗", "cancelled": "⊘",
	"pass": "✓", "violation": "✗", "inconclusive": "?", "infrastructure": "!", "interrupted": "!",
}

// known is a state as the name of a class: one of ours, whoever wrote it.
func known(state string) string {
	if signs[state] == "" {
		return "other"
	}
	return state
}

// show renders a page.
func (c *Console) show(w http.ResponseWriter, p page) {
	p.frame = c.frame(p.Name)
	var b bytes.Buffer
	if err := pages[p.Name].ExecuteTemplate(&b, "frame", p); err != nil {
		http.Error(w, "This page could not be drawn: "+report.Untrusted(err.Error()).Line(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if p.Status != 0 {
		w.WriteHeader(p.Status)
	}
	_, _ = w.Write(b.Bytes())
}

func (c *Console) frame(name string) frame {
	f := frame{Seed: c.o.Seed, Stage: packaging.ReplaceAllString(c.stage.Describe(), ""), Service: c.world.Service.Balancer.URL(), Console: c.hub.name, Faults: len(c.faults.inPlace())}
	races := 0
	for _, j := range c.board.all() {
		if j.Status == "unknown" {
			f.Unknown++
		}
		races += len(j.Races)
	}
	for _, d := range c.dolls {
		_, _, list := d.holding()
		f.Held += len(list)
	}
	if err, since := c.board.trouble(); err != nil {
		f.Trouble = fmt.Sprintf("The database has not answered for %s: what you see may be old.", span(time.Since(since).Round(time.Second)))
	}
	f.Menu = []entry{
		{Path: "/", Name: "Try it", Icon: "try"},
		{Path: "/tour", Name: "Guided tour", Icon: "tour"},
		{Path: "/jobs", Name: "Jobs", Icon: "jobs", Count: f.Unknown, What: "unknown"},
		{Path: "/providers", Name: "Providers", Icon: "providers", Count: f.Held, What: "held"},
		{Path: "/faults", Name: "Faults", Icon: "faults", Count: f.Faults, What: "in place"},
		{Path: "/gate", Name: "Gate", Icon: "gate"},
		{Path: "/races", Name: "Races", Icon: "races", Count: races, What: "late results"},
		{Path: "/runs", Name: "Runs", Icon: "runs"},
	}
	for i := range f.Menu {
		f.Menu[i].Here = f.Menu[i].Icon == name || name == "job" && f.Menu[i].Icon == "jobs" || name == "run" && f.Menu[i].Icon == "runs"
	}
	return f
}

// packaging is what a distribution adds to a version.
var packaging = regexp.MustCompile(` \([^)]*\)`)

// get serves a page.
func (c *Console) get(make func(*http.Request) page) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		p := make(r)
		if r.Header.Get("X-Live") != "" {
			p.Status = 0 // read by the script of a page that stood there: what it says is the content
		}
		c.show(w, p)
	}
}

// post carries out a click. A script is answered with the answer alone, as a
// part of the page that stands there already; without one the page comes back
// with it. Both are 200 where the service refused: that is the content. What the
// console itself refused has its status, except towards a script, to which a
// failed request would be an error of its own.
func (c *Console) post(act func(*http.Request) answer, back func(*http.Request) page) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var a answer
		if err := r.ParseForm(); err != nil {
			a = bad("The form could not be read: at most %d kB are taken.", maxForm>>10)
		} else {
			a = act(r)
			c.board.caughtUp() // what was done is on the page that follows
		}
		if r.Header.Get("X-Live") != "" {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			if err := pages["try"].ExecuteTemplate(w, "answer", &a); err != nil {
				http.Error(w, "The answer could not be drawn.", http.StatusInternalServerError)
			}
			return
		}
		if a.Go != "" && !a.Bad {
			http.Redirect(w, r, a.Go, http.StatusSeeOther)
			return
		}
		if a.Job != "" {
			r.Form.Set("job", a.Job)
		}
		p := back(r)
		p.Answer, p.Status = &a, a.Status
		c.show(w, p)
	}
}

// routes is the table of contents of the console.
func (c *Console) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", c.get(c.tryPage))
	mux.HandleFunc("POST /submit", c.post(c.submit, c.tryPage))
	mux.HandleFunc("GET /jobs", c.get(c.jobsPage))
	mux.HandleFunc("GET /jobs/{id}", c.get(c.jobPage))
	mux.HandleFunc("POST /jobs/{id}/{verb}", c.post(c.onJob, c.jobPage))
	mux.HandleFunc("POST /jobs/{id}/attempts/{n}/{verb}", c.post(c.onAttempt, c.jobPage))
	mux.HandleFunc("GET /providers", c.get(c.providersPage))
	mux.HandleFunc("POST /providers/{name}/{verb}", c.post(c.onProvider, c.providersPage))
	mux.HandleFunc("GET /faults", c.get(c.faultsPage))
	mux.HandleFunc("POST /faults/{verb}", c.post(c.onFault, c.faultsPage))
	mux.HandleFunc("GET /gate", c.get(c.gatePage))
	mux.HandleFunc("POST /gate/{verb}", c.post(c.onGate, c.gatePage))
	mux.HandleFunc("GET /races", c.get(c.racesPage))
	mux.HandleFunc("GET /tour", c.get(c.tourPage))
	mux.HandleFunc("POST /tour/{n}", c.post(c.onTour, c.tourPage))
	mux.HandleFunc("GET /runs", c.get(c.runsPage))
	mux.HandleFunc("POST /runs/{verb}", c.post(c.onRun, c.runsPage))
	mux.HandleFunc("GET /runs/lanes", c.serveLanes)
	mux.HandleFunc("GET /runs/{folder}/report", c.serveReport)
	mux.HandleFunc("GET /events", c.hub.stream)
	mux.HandleFunc("GET /problems/{name}", c.get(c.problemPage))
	assets, err := fs.Sub(assetFiles, "assets")
	if err != nil {
		panic(err)
	}
	mux.HandleFunc("GET /assets/lanes.js", asset("text/javascript", report.LanesJS))
	mux.HandleFunc("GET /assets/lanes.css", asset("text/css", report.LanesCSS))
	mux.Handle("GET /assets/", http.StripPrefix("/assets/", http.FileServerFS(assets)))
	mux.HandleFunc("GET /healthz", c.health)
	mux.HandleFunc("GET /readyz", c.health)
	mux.HandleFunc("GET /metrics", c.metrics)
	mux.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) {
		c.show(w, page{Name: "missing", Title: "Not here", Status: http.StatusNotFound, View: r.URL.Path})
	})
	return mux
}

// asset serves a text of the report's page.
func asset(kind, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind+"; charset=utf-8")
		_, _ = io.WriteString(w, text)
	}
}

// health answers programs: 200 while the console serves and its database
// answers.
func (c *Console) health(w http.ResponseWriter, _ *http.Request) {
	down, _ := c.board.trouble()
	w.Header().Set("Content-Type", "application/json")
	if down != nil {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"ready": down == nil, "streams": c.hub.open(0), "revision": c.hub.newest()})
}

// metrics passes on what the service counts.
func (c *Console) metrics(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), toSee)
	defer cancel()
	ask, err := http.NewRequestWithContext(ctx, http.MethodGet, c.world.Service.Balancer.URL()+"/metrics", nil)
	if err != nil {
		http.Error(w, "The service has no address.", http.StatusInternalServerError)
		return
	}
	resp, err := http.DefaultClient.Do(ask)
	if err != nil {
		http.Error(w, "The service does not answer.", http.StatusBadGateway)
		return
	}
	defer func() { _ = resp.Body.Close() }()
	w.Header().Set("Content-Type", resp.Header.Get("Content-Type"))
	w.WriteHeader(resp.StatusCode)
	_, _ = io.Copy(w, resp.Body) // who asked may have left
}
