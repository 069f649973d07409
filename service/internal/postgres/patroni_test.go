package postgres_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/harness/loopback"
	"github.com/interlock-harness/interlock/service/internal/job"
	"github.com/interlock-harness/interlock/service/internal/postgres"
)

// toFailOver bounds each step of a Patroni cluster: it is made, another node
// leads, the old one is back.
const toFailOver = 3 * time.Minute

// patroni is a cluster of the documented configuration on this machine.
type patroni struct {
	t     *testing.T
	dir   string
	nodes []*patroniNode
}

type patroniNode struct {
	name         string
	rest, server string // addresses
	config, data string
	cmd          *exec.Cmd
	ended        chan struct{}
}

// newPatroni starts etcd and three nodes and waits for a leader with its
// synchronous standby. Only time and place differ from docs/replication/patroni.yml.
func newPatroni(t *testing.T) *patroni {
	t.Helper()
	documented, err := os.ReadFile("../../../docs/replication/patroni.yml")
	if err != nil {
		t.Fatal(err)
	}
	p := &patroni{t: t, dir: t.TempDir()}
	for dir := p.dir; dir != os.TempDir() && len(dir) > 1; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	p.own(p.dir)
	client, peer := port(t), port(t)
	p.start("etcd", "etcd", "--data-dir", filepath.Join(p.dir, "etcd"), "--listen-client-urls", "http://"+client, "--advertise-client-urls", "http://"+client,
		"--listen-peer-urls", "http://"+peer, "--initial-advertise-peer-urls", "http://"+peer, "--initial-cluster", "default=http://"+peer)
	for i := range 3 {
		n := &patroniNode{name: fmt.Sprint("db-", i+1), rest: port(t), server: port(t)}
		n.data, n.config = filepath.Join(p.dir, "data-"+n.name), filepath.Join(p.dir, n.name+".yml")
		text := string(documented)
		for from, to := range map[string]string{
			"name: db-1\n": "name: " + n.name + "\n", "10.0.0.31:2379,10.0.0.32:2379,10.0.0.33:2379": client,
			"10.0.0.21:8008": n.rest, "10.0.0.21:5432": n.server, "10.0.0.0/24": "127.0.0.1/32",
			"/usr/lib/postgresql/15/bin": binaries(t), "/var/lib/postgresql/15/interlock": n.data,
			"/var/lib/postgresql/patroni.pgpass": n.config + ".pgpass", "/var/run/postgresql": p.dir,
			"ttl: 30 ": "ttl: 20 ", "loop_wait: 10\n": "loop_wait: 1\n", "retry_timeout: 10\n": "retry_timeout: 3\n", // the least that Patroni takes
		} {
			if !strings.Contains(text, from) {
				t.Fatalf("the documented configuration does not say %q", from)
			}
			text = strings.ReplaceAll(text, from, to)
		}
		if err := os.WriteFile(n.config, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		p.nodes = append(p.nodes, n)
		p.startNode(n)
	}
	p.until("a leader with a synchronous standby", func(roles map[string]string) bool {
		return len(roles) == 3 && count(roles, "leader") == 1 && count(roles, "sync_standby") == 1
	})
	return p
}

func port(t *testing.T) string {
	t.Helper()
	n, err := loopback.Port()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint("127.0.0.1:", n)
}

func binaries(t *testing.T) string {
	t.Helper()
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/pg_rewind")
	if err != nil || len(found) == 0 {
		t.Fatal("there is no /usr/lib/postgresql/*/bin: this test runs Debian's packages")
	}
	return filepath.Dir(found[len(found)-1])
}

func count(roles map[string]string, role string) (n int) {
	for _, r := range roles {
		if r == role {
			n++
		}
	}
	return n
}

// servant is the user that PostgreSQL runs as when we are root; nil otherwise.
func servant(t *testing.T) *syscall.Credential {
	t.Helper()
	if os.Geteuid() != 0 {
		return nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		t.Fatal(err)
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

func (p *patroni) own(path string) {
	p.t.Helper()
	if c := servant(p.t); c != nil {
		if err := os.Chown(path, int(c.Uid), int(c.Gid)); err != nil {
			p.t.Fatal(err)
		}
	}
}

// start runs a program until the end of the test.
func (p *patroni) start(name, program string, args ...string) (*exec.Cmd, chan struct{}) {
	p.t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir = p.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: servant(p.t), Setpgid: true, Pdeathsig: syscall.SIGTERM}
	cmd.Env = append(os.Environ(), "PATRONI_SUPERUSER_PASSWORD=of-the-superuser", "PATRONI_REPLICATION_PASSWORD=of-the-replicator", "PATRONI_REWIND_PASSWORD=of-the-rewinder")
	said, err := os.CreateTemp(p.dir, name+"-*.log") // a file: a pipe would stay open as long as its children do
	if err != nil {
		p.t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Start(); err != nil {
		p.t.Fatalf("%s (Debian packages patroni, python3-etcd, etcd-server): %v", program, err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = cmd.Wait() }()
	p.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-ended:
		case <-time.After(toStore):
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
			<-ended
		}
		if text, err := os.ReadFile(said.Name()); err == nil && p.t.Failed() {
			p.t.Logf("%s: %s", name, text[max(0, len(text)-4000):])
		}
		_ = said.Close()
	})
	return cmd, ended
}

// powerOff ends the PostgreSQL of a node, if there is one.
func (n *patroniNode) powerOff() error {
	text, err := os.ReadFile(filepath.Join(n.data, "postmaster.pid"))
	if err != nil {
		return err
	}
	first, _, _ := strings.Cut(string(text), "\n")
	postmaster, err := strconv.Atoi(first)
	if err != nil {
		return err
	}
	return syscall.Kill(postmaster, syscall.SIGKILL)
}

func (p *patroni) startNode(n *patroniNode) {
	p.t.Helper()
	p.t.Cleanup(func() { _ = n.powerOff() }) // after Patroni, which ends it in peace where it can
	n.cmd, n.ended = p.start(n.name, "patroni", n.config)
}

// kill ends Patroni and the PostgreSQL of a node as a power cut would.
func (p *patroni) kill(n *patroniNode) {
	p.t.Helper()
	if err := errors.Join(n.cmd.Process.Kill(), n.powerOff()); err != nil {
		p.t.Fatal(err)
	}
	<-n.ended
}

// roles asks the nodes who is what: the role of each one that runs.
func (p *patroni) roles() map[string]string {
	client := http.Client{Timeout: 2 * time.Second}
	for _, n := range p.nodes {
		resp, err := client.Get("http://" + n.rest + "/cluster")
		if err != nil {
			continue
		}
		var cluster struct {
			Members []struct{ Name, Role, State string }
		}
		err = json.NewDecoder(resp.Body).Decode(&cluster)
		_ = resp.Body.Close()
		if err != nil {
			continue
		}
		roles := map[string]string{}
		for _, m := range cluster.Members {
			if m.State == "running" || m.State == "streaming" {
				roles[m.Name] = m.Role
			}
		}
		return roles
	}
	return nil
}

func (p *patroni) until(what string, holds func(roles map[string]string) bool) {
	p.t.Helper()
	for begun := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		roles := p.roles()
		if holds(roles) {
			return
		}
		if time.Since(begun) > toFailOver {
			p.t.Fatalf("not within %s: %s; it is %v", toFailOver, what, roles)
		}
	}
}

func (p *patroni) leader() *patroniNode {
	p.t.Helper()
	roles := p.roles()
	for _, n := range p.nodes {
		if roles[n.name] == "leader" {
			return n
		}
	}
	p.t.Fatalf("nobody leads: %v", roles)
	return nil
}

// url names all nodes, as the documentation says, and the one that takes writes.
func (p *patroni) url() string {
	hosts := []string{}
	for _, n := range p.nodes {
		hosts = append(hosts, n.server)
	}
	u := url.URL{Scheme: "postgres", User: url.UserPassword("postgres", "of-the-superuser"), Host: strings.Join(hosts, ","), Path: "postgres",
		RawQuery: "target_session_attrs=read-write&sslmode=disable&connect_timeout=2"}
	return u.String()
}

// TestPatroniFailsOverWithoutLoss takes the power from the leading node of the
// documented cluster while a client and a worker are at it. Another node leads,
// nothing that was acknowledged is missing, and the old one comes back to follow.
func TestPatroniFailsOverWithoutLoss(t *testing.T) {
	if os.Getenv("INTERLOCK_PATRONI") == "" {
		t.Skip("INTERLOCK_PATRONI=1 runs a Patroni cluster, which takes a minute and Debian's packages patroni, python3-etcd and etcd-server")
	}
	p := newPatroni(t)
	s := openAt(t, p.url(), postgres.Options{Patience: 5 * time.Second})
	if err := s.Migrate(ctx(t)); err != nil {
		t.Fatal(err)
	}

	working, stop := context.WithCancel(context.Background())
	defer stop()
	var mu sync.Mutex
	var won []job.Claimed
	var done atomic.Int64
	var worker sync.WaitGroup
	worker.Go(func() {
		for i := 0; working.Err() == nil; i++ {
			if c, err := life(working, s, job.Key(fmt.Sprint("k-", i))); err == nil {
				mu.Lock()
				won = append(won, c)
				mu.Unlock()
				done.Add(1)
			} else if working.Err() == nil {
				t.Error(err)
				return
			}
		}
	})
	lives := func(more int64) {
		t.Helper()
		want := done.Load() + more
		for begun := time.Now(); done.Load() < want; time.Sleep(time.Millisecond) {
			if t.Failed() || time.Since(begun) > toFailOver {
				t.Fatalf("%d lives, want %d; the nodes are %v", done.Load(), want, p.roles())
			}
		}
	}
	lives(100)
	old := p.leader()
	p.kill(old)
	gone := time.Now()
	p.until("another node leads", func(roles map[string]string) bool { return roles[old.name] != "leader" && count(roles, "leader") == 1 })
	lives(1) // the one that was under way may have ended before
	lives(100)
	t.Logf("%s was killed; %s leads, and after %s it had acknowledged 100 more lives", old.name, p.leader().name, time.Since(gone).Round(time.Second))
	stop()
	worker.Wait()

	for _, c := range won {
		if j, err := s.Job(ctx(t), job.AnyOwner, c.Job.ID); err != nil || j.CompletedBy != c.Attempt.ID || string(j.Result) != `{"n":1}` {
			t.Errorf("acknowledged and lost: %s is %+v, %v", c.Job.Key, j, err)
		}
	}
	if n := value[int](t, p.url(), "SELECT count(*) FROM jobs j WHERE (SELECT count(*) FROM attempts a WHERE a.job_id = j.id) <> 1"); n != 0 {
		t.Errorf("%d jobs without exactly one attempt", n)
	}
	if n := value[int](t, p.url(), "SELECT count(*) FROM races"); n != 0 {
		t.Errorf("%d own wins count as late", n)
	}

	p.startNode(old)
	p.until("the old leader follows", func(roles map[string]string) bool {
		return strings.HasSuffix(roles[old.name], "replica") || roles[old.name] == "sync_standby"
	})
}

// life takes a job from its submit to its winner, and repeats whatever the store
// was not available for.
func life(working context.Context, s *postgres.Store, key job.Key) (c job.Claimed, err error) {
	persist := func(do func(context.Context) error) error {
		for {
			err := do(working)
			if !errors.Is(err, job.ErrUnavailable) || working.Err() != nil {
				return err
			}
		}
	}
	if err = persist(func(ctx context.Context) (err error) { _, _, err = s.Submit(ctx, submission(key)); return err }); err != nil {
		return c, fmt.Errorf("submit: %w", err)
	}
	for c.Attempt.ID == "" {
		err = persist(func(ctx context.Context) error {
			got, err := s.Claim(ctx, "w", time.Hour, 1)
			if err == nil && len(got) == 1 {
				c = got[0]
			}
			return err
		})
		if err != nil {
			return c, fmt.Errorf("claim: %w", err)
		}
	}
	if err = persist(func(ctx context.Context) error {
		return s.Complete(ctx, settlement(c, "ok"), json.RawMessage(`{"n":1}`))
	}); err != nil {
		return c, fmt.Errorf("complete: %w", err)
	}
	return c, nil
}
