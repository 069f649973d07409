package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/rs/zerolog"

	"github.com/interlock-harness/interlock/harness/loopback"
	"github.com/interlock-harness/interlock/harness/stage/pgserver"
	"github.com/interlock-harness/interlock/harness/stage/process"
)

// toDeploy bounds the whole run, building the binary included.
const toDeploy = 3 * time.Minute

// deployment runs the commands of compose.yaml as processes of this machine:
// what is host:port there is a port of 127.0.0.1 here.
type deployment struct {
	t       *testing.T
	ctx     context.Context
	project *types.Project
	binary  string
	dir     string            // stands for /etc/interlock
	ports   map[string]string // host:port of compose.yaml to host:port here
	pg      *pgserver.Server
}

// TestTheCommandsOfComposeRun starts every service of compose.yaml in the order
// of its dependencies, waits for each health check, and takes a job through.
func TestTheCommandsOfComposeRun(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the binary and starts ten processes")
	}
	ctx, cancel := context.WithTimeout(context.Background(), toDeploy)
	defer cancel()
	d := &deployment{t: t, ctx: ctx, project: composeProject(t), dir: t.TempDir(), ports: map[string]string{}}
	d.binary = filepath.Join(d.dir, "interlock")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", d.binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	var err error
	if d.pg, err = pgserver.Start(ctx, pgserver.Options{Durable: true}); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.pg.Close() }()
	d.ports["postgres:5432"] = d.pg.Addr()
	for name, s := range d.project.Services {
		if p := port(s); p != "" && name != "postgres" {
			free, err := loopback.Port()
			if err != nil {
				t.Fatal(err)
			}
			d.ports[name+":"+p] = fmt.Sprintf("127.0.0.1:%d", free)
		}
	}
	d.proxies()
	d.files()

	started := map[string]bool{"postgres": true, "toxiproxy": true}
	for len(started) < len(d.project.Services) {
		before := len(started)
		for name, s := range d.project.Services {
			if !started[name] && ready(s, started) {
				d.start(s)
				started[name] = true
			}
		}
		if len(started) == before {
			t.Fatalf("the rest depends on itself; started are %v", started)
		}
	}
	d.job()
}

func ready(s types.ServiceConfig, started map[string]bool) bool {
	for on := range s.DependsOn {
		if !started[on] {
			return false
		}
	}
	return true
}

// proxies runs toxiproxy.json on a Toxiproxy of this process.
func (d *deployment) proxies() {
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	for _, spec := range toxiproxySpecs(d.t) {
		proxy := toxiproxy.NewProxy(server, spec.Name, "127.0.0.1:0", d.ports[spec.Upstream])
		if err := server.Collection.Add(proxy, spec.Enabled); err != nil {
			d.t.Fatal(err)
		}
		d.t.Cleanup(proxy.Stop)
		_, port, _ := net.SplitHostPort(spec.Listen)
		d.ports["toxiproxy:"+port] = proxy.Listen
	}
}

// files writes the configs of compose.yaml and the contracts of the image.
func (d *deployment) files() {
	for _, s := range d.project.Services {
		for _, c := range s.Configs {
			content := d.project.Configs[c.Source].Content
			if content == "" || !strings.HasPrefix(c.Target, "/etc/interlock/") {
				continue
			}
			path := d.path(c.Target)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				d.t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(d.here(content)), 0o600); err != nil {
				d.t.Fatal(err)
			}
		}
	}
	if err := os.CopyFS(d.path("/etc/interlock/contracts"), os.DirFS("providers/fixtures/contracts")); err != nil {
		d.t.Fatal(err)
	}
}

func (d *deployment) path(there string) string {
	return strings.Replace(there, "/etc/interlock", d.dir, 1)
}

var hostPort = regexp.MustCompile(`\b[a-z][a-z0-9-]*:\d+\b`)

// here replaces the addresses of compose.yaml by those of this machine.
func (d *deployment) here(text string) string {
	return hostPort.ReplaceAllStringFunc(text, func(address string) string {
		if local, ok := d.ports[address]; ok {
			return local
		}
		return address
	})
}

// start runs one service. One that is to complete is waited for, others until
// their health check passes.
func (d *deployment) start(s types.ServiceConfig) {
	var args []string
	own := d.ports[s.Name+":"+port(s)]
	for _, arg := range s.Command {
		if strings.HasPrefix(arg, "0.0.0.0:") {
			arg = own
		}
		args = append(args, d.here(arg))
	}
	cmd := exec.Command(d.binary, args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + d.dir}
	for name, value := range s.Environment {
		if name == "DATABASE_URL" {
			u, err := url.Parse(d.here(*value))
			if err != nil {
				d.t.Fatal(err)
			}
			real, _ := url.Parse(d.pg.URL("postgres"))
			u.User, u.Path = real.User, real.Path // the private server has its own
			cmd.Env = append(cmd.Env, name+"="+u.String())
			continue
		}
		cmd.Env = append(cmd.Env, name+"="+d.path(*value))
	}
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = io.Discard, &said
	p, err := process.Start(s.Name, cmd, syscall.SIGKILL)
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() {
		grace, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		p.End(grace, syscall.SIGTERM)
	})
	if s.HealthCheck == nil {
		if err := p.Wait(d.ctx); err != nil || p.ExitCode() != 0 {
			d.t.Fatalf("%s: %v, %s\n%s", s.Name, err, p.Exit(), said.String())
		}
		return
	}
	check := s.HealthCheck.Test[2:] // after CMD and the program
	for i := range check {
		check[i] = strings.Replace(check[i], "127.0.0.1:"+port(s), own, 1)
	}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		out, err := exec.CommandContext(d.ctx, d.binary, check...).CombinedOutput()
		if err == nil {
			return
		}
		select {
		case <-p.Done():
			d.t.Fatalf("%s ended: %s\n%s", s.Name, p.Exit(), said.String())
		case <-d.ctx.Done():
			d.t.Fatalf("%s is not healthy: %s\n%s", s.Name, out, said.String())
		case <-tick.C:
		}
	}
}

// job takes one job through the published port, as a user would.
func (d *deployment) job() {
	base := "http://" + d.ports["toxiproxy:18080"]
	call := func(method, path, body string) map[string]any {
		d.t.Helper()
		req, err := http.NewRequestWithContext(d.ctx, method, base+path, strings.NewReader(body))
		if err != nil {
			d.t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer demo-owner")
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Idempotency-Key", "deploy-1")
		resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
		if err != nil {
			d.t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		var answer map[string]any
		if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil || resp.StatusCode/100 != 2 {
			d.t.Fatalf("%s %s: %s %v, %v", method, path, resp.Status, answer, err)
		}
		return answer
	}
	job := call(http.MethodPost, "/v1/jobs", `{"intent":{"contract":"triage","provider":"openai-demo","input":{"text":"The printer is out of paper."}}}`)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for job["status"] != "succeeded" {
		select {
		case <-d.ctx.Done():
			d.t.Fatalf("the job is %v", job)
		case <-tick.C:
		}
		job = call(http.MethodGet, fmt.Sprint("/v1/jobs/", job["id"]), "")
		if job["status"] == "failed" || job["status"] == "unknown" {
			d.t.Fatalf("the job is %v", job)
		}
	}
}
