package main_test

import (
	"context"
	"encoding/json"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
)

func composeProject(t *testing.T) *types.Project {
	t.Helper()
	text, err := os.ReadFile("compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	project, err := loader.LoadWithContext(context.Background(), types.ConfigDetails{
		WorkingDir: ".", ConfigFiles: []types.ConfigFile{{Filename: "compose.yaml", Content: text}},
		Environment: types.Mapping{}, // what is unset has a default in the file
	})
	if err != nil {
		t.Fatal(err)
	}
	return project
}

// proxySpec is one entry of toxiproxy.json.
type proxySpec struct {
	Name     string `json:"name"`
	Listen   string `json:"listen"`
	Upstream string `json:"upstream"`
	Enabled  bool   `json:"enabled"`
}

func toxiproxySpecs(t *testing.T) []proxySpec {
	t.Helper()
	text, err := os.ReadFile("toxiproxy.json")
	if err != nil {
		t.Fatal(err)
	}
	var specs []proxySpec
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&specs); err != nil {
		t.Fatal(err)
	}
	return specs
}

func TestComposeBringsUpTheWholeExperiment(t *testing.T) {
	project := composeProject(t)
	want := []string{"anthropic-demo", "api-1", "api-2", "balancer", "migrate", "openai-demo", "postgres", "toxiproxy", "worker-1", "worker-2"}
	if got := project.ServiceNames(); !slices.Equal(got, want) {
		t.Fatalf("services are %v, want %v", got, want)
	}
	for name, s := range project.Services {
		if s.HealthCheck == nil && name != "migrate" {
			t.Errorf("%s has no health check", name)
		}
		if s.HealthCheck != nil && (len(s.HealthCheck.Test) < 2 || s.HealthCheck.Test[0] != "CMD") {
			t.Errorf("the health check of %s needs a shell: %v", name, s.HealthCheck.Test)
		}
		if len(s.Networks) == 0 || s.Networks["default"] != nil {
			t.Errorf("%s is on networks %v, want our own", name, s.Networks)
		}
		for _, p := range s.Ports {
			if name != "toxiproxy" || p.HostIP != "127.0.0.1" {
				t.Errorf("%s publishes port %s on %q", name, p.Published, p.HostIP)
			}
		}
		for on, d := range s.DependsOn {
			if d.Condition == types.ServiceConditionStarted {
				t.Errorf("%s waits for %s only to start, not to be healthy", name, on)
			}
		}
		if s.Build == nil {
			continue
		}
		if !s.ReadOnly || !slices.Contains(s.CapDrop, "ALL") || len(s.Command) == 0 {
			t.Errorf("%s: read only %v, drops %v, command %v", name, s.ReadOnly, s.CapDrop, s.Command)
		}
		if s.HealthCheck != nil && !slices.Equal(s.HealthCheck.Test[1:3], []string{"/interlock", "healthcheck"}) {
			t.Errorf("the image of %s holds no program for %v", name, s.HealthCheck.Test)
		}
	}
	if stage := project.Networks["stage"]; !bool(stage.Internal) {
		t.Error("the network of the stage reaches the internet")
	}
}

// port is the port on which a service of compose.yaml listens.
func port(s types.ServiceConfig) string {
	for i, arg := range s.Command {
		if arg == "--listen" && i+1 < len(s.Command) {
			_, port, _ := net.SplitHostPort(s.Command[i+1])
			return port
		}
	}
	if s.Name == "postgres" {
		return "5432"
	}
	return ""
}

func TestEveryEdgeOfComposeGoesThroughANamedProxy(t *testing.T) {
	project, listens, names := composeProject(t), map[string]proxySpec{}, []string{}
	for _, p := range toxiproxySpecs(t) {
		host, upstreamPort, err := net.SplitHostPort(p.Upstream)
		if err != nil || !p.Enabled {
			t.Errorf("proxy %s: enabled %v, %v", p.Name, p.Enabled, err)
		}
		s, ok := project.Services[host]
		if !ok || port(s) != upstreamPort {
			t.Errorf("proxy %s leads to %s, where nobody listens", p.Name, p.Upstream)
		}
		_, listen, err := net.SplitHostPort(p.Listen)
		if err != nil || listens[listen].Name != "" {
			t.Errorf("proxy %s listens at %s: taken by %q, %v", p.Name, p.Listen, listens[listen].Name, err)
		}
		listens[listen] = p
		names = append(names, p.Name)
	}
	through := func(who, address, wantHost string) {
		t.Helper()
		u, err := url.Parse(address)
		if err != nil || u.Hostname() != "toxiproxy" {
			t.Errorf("%s reaches %s past Toxiproxy (%v)", who, address, err)
			return
		}
		if p := listens[u.Port()]; !strings.HasPrefix(p.Upstream, wantHost+":") {
			t.Errorf("%s reaches %s through proxy %q, want one to %s", who, address, p.Name, wantHost)
		}
	}
	for _, name := range []string{"api-1", "api-2", "worker-1", "worker-2"} {
		through(name, *project.Services[name].Environment["DATABASE_URL"], "postgres")
	}
	base := regexp.MustCompile(`(?m)^base_url: (\S+)$`)
	for _, provider := range []string{"openai-demo", "anthropic-demo"} {
		content := project.Configs[provider].Content
		through("profile "+provider, base.FindStringSubmatch(content)[1], provider)
		// But for the address it is the profile that the project ships.
		shipped, err := os.ReadFile(filepath.Join("providers/fixtures/profiles", provider+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		plain := func(text string) string {
			text = regexp.MustCompile(`(?m)^#.*\n`).ReplaceAllString(text, "")
			return strings.TrimSpace(base.ReplaceAllString(text, "base_url: x"))
		}
		if plain(content) != plain(string(shipped)) {
			t.Errorf("profile %s differs from the one that is shipped:\n%s\n%s", provider, content, shipped)
		}
	}
	for _, p := range project.Services["toxiproxy"].Ports {
		if p.Target != 8474 && listens["18080"].Name != "client-balancer" {
			t.Errorf("port %d of Toxiproxy is published and leads nowhere", p.Target)
		}
	}
	for _, want := range []string{"client-balancer", "client-api-1", "client-api-2", "service-postgres", "worker-openai-demo", "worker-anthropic-demo"} {
		if !slices.Contains(names, want) {
			t.Errorf("toxiproxy.json has no proxy %s", want)
		}
	}
}

// dockerfile splits a Dockerfile into its stages of instructions.
func dockerfile(t *testing.T) [][]string {
	t.Helper()
	text, err := os.ReadFile("Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	joined := strings.ReplaceAll(string(text), "\\\n", " ")
	var stages [][]string
	for line := range strings.SplitSeq(joined, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if strings.HasPrefix(line, "FROM ") {
			stages = append(stages, nil)
		}
		if len(stages) == 0 {
			t.Fatalf("instruction before FROM: %s", line)
		}
		stages[len(stages)-1] = append(stages[len(stages)-1], line)
	}
	return stages
}

func TestDockerfileMakesAStaticBinaryThatIsNotRoot(t *testing.T) {
	stages := dockerfile(t)
	if len(stages) != 2 {
		t.Fatalf("%d stages, want 2", len(stages))
	}
	build, final := stages[0], stages[1]
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(string(mod))[1]
	if build[0] != "FROM golang:"+version+" AS build" {
		t.Errorf("built by %q, go.mod wants %s", build[0], version)
	}
	if !slices.ContainsFunc(build, func(l string) bool {
		return strings.HasPrefix(l, "RUN CGO_ENABLED=0 go build ") && strings.Contains(l, "-o /out/interlock .")
	}) {
		t.Error("the binary is not built static")
	}
	if final[0] != "FROM scratch" {
		t.Errorf("the image starts from %q", final[0])
	}
	user := ""
	for _, l := range final {
		word, rest, _ := strings.Cut(l, " ")
		switch word {
		case "RUN", "ADD":
			t.Errorf("nothing can run in an empty image: %s", l)
		case "COPY":
			if !strings.HasPrefix(rest, "--from=build ") {
				t.Errorf("the image takes a file of the source: %s", l)
			}
		case "USER":
			user = rest
		case "ENTRYPOINT", "CMD":
			var args []string
			if err := json.Unmarshal([]byte(rest), &args); err != nil {
				t.Errorf("%s needs a shell: %v", l, err)
			}
		}
	}
	if !regexp.MustCompile(`^[1-9]\d*:[1-9]\d*$`).MatchString(user) {
		t.Errorf("it runs as user %q", user)
	}
	for _, l := range build {
		fields := strings.Fields(l)
		if fields[0] != "COPY" {
			continue
		}
		for _, source := range fields[1 : len(fields)-1] {
			if _, err := os.Stat(source); err != nil {
				t.Errorf("%s: %v", l, err)
			}
		}
	}
	if !slices.ContainsFunc(build, func(l string) bool { return strings.Contains(l, "cp -r providers/fixtures/contracts ") }) {
		t.Error("the image has no contracts")
	}
}
