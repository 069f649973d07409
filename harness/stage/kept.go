package stage

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Places say where the parts of a service listen that is left up for a person, and
// where the secrets are with which one gets in.
type Places struct {
	Play     string  `json:"play"`    // the name of its history
	Service  string  `json:"service"` // base URL of the balancer
	Parts    []Place `json:"parts"`   // replicas, workers, stand-in providers
	Postgres string  `json:"postgres"`
	Database string  `json:"database"`
	// Files with one secret each, which go with the stack.
	URLFile      string `json:"postgres_url_file"`
	OwnerFile    string `json:"owner_key_file"`
	OperatorFile string `json:"operator_key_file"`
}

// Place is one part and its address.
type Place struct {
	Name string `json:"name"`
	URL  string `json:"url"`
}

// Places writes the secrets into files of the stage and says where everything is.
func (w *World) Places() (*Places, error) {
	v := w.Service
	dir := filepath.Join(w.stage.dir, "kept")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	p := &Places{
		Play: w.Recorder.Scenario(), Service: v.Balancer.URL(), Postgres: v.pg.Addr(), Database: v.database,
		URLFile: filepath.Join(dir, "postgres-url"), OwnerFile: filepath.Join(dir, "owner-key"), OperatorFile: filepath.Join(dir, "operator-key"),
	}
	for _, process := range v.Processes() {
		p.Parts = append(p.Parts, Place{process.Name, process.URL()})
	}
	for _, provider := range w.stage.o.Providers {
		p.Parts = append(p.Parts, Place{provider.Name, "http://" + w.stage.stands[provider.Name].server.Addr()})
	}
	var failed error
	operator, err := w.OperatorKey()
	if err != nil {
		return nil, err
	}
	for file, secret := range map[string]string{p.URLFile: v.PGURL(), p.OwnerFile: w.Owner(1).Key, p.OperatorFile: operator} {
		failed = errors.Join(failed, os.WriteFile(file, []byte(secret+"\n"), 0o600))
	}
	return p, failed
}

// Text says it to a person.
func (p *Places) Text() string {
	var b strings.Builder
	width := len("PostgreSQL")
	for _, part := range p.Parts {
		width = max(width, len(part.Name))
	}
	line := func(name, where string) { fmt.Fprintf(&b, "  %-*s  %s\n", width, name, where) }
	line("service", p.Service)
	for _, part := range p.Parts {
		line(part.Name, part.URL)
	}
	line("PostgreSQL", p.Postgres+", database "+p.Database)
	fmt.Fprintf(&b, "\n  psql \"$(cat %s)\"\n  curl -H \"Authorization: Bearer $(cat %s)\" %s/v1/jobs\n", p.URLFile, p.OwnerFile, p.Service)
	return b.String()
}
