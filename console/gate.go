package console

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/interlock-harness/interlock/harness/target"
)

// gateView is the matrix of who may stand in for whom, one per contract, as the
// running service answers it.
type gateView struct {
	Contracts []matrix
	Providers []string
	Trouble   string
}

type matrix struct {
	ID   string
	To   []string
	Rows []matrixRow
}

type matrixRow struct {
	From  string
	Cells []cell
}

type cell struct {
	To       string
	Same     bool
	Allowed  bool
	Code     string // of the first reason
	Sentence string
	More     []string // further reasons
}

// asker asks the service's gate without leaving traces in the history of the
// stage: the page asks every time it is drawn.
func (c *Console) asker() *target.Client {
	owner := c.world.Owner(1)
	return target.New(target.Options{Actor: "console", BaseURL: c.world.Service.Balancer.URL(), Owner: owner.Owner, APIKey: owner.Key, Timeout: 2 * time.Second})
}

func (c *Console) ask(ctx context.Context, from, to, contract string) (cell, error) {
	a, err := c.asker().Failover(ctx, from, to, contract)
	if err != nil {
		return cell{To: to, Code: "no answer"}, err
	}
	one := cell{To: to, Allowed: a.Allowed}
	for i, reason := range a.Reasons {
		code, sentence, _ := strings.Cut(reason, ": ")
		if i == 0 {
			one.Code, one.Sentence = code, sentence
			continue
		}
		one.More = append(one.More, sentence)
	}
	return one, nil
}

func (c *Console) gatePage(r *http.Request) page {
	var v gateView
	for _, d := range doubles() {
		v.Providers = append(v.Providers, d.Name)
	}
	for _, id := range slices.Sorted(maps.Keys(c.certs.facts)) {
		m := matrix{ID: id, To: v.Providers}
		for _, from := range v.Providers {
			line := matrixRow{From: from}
			for _, to := range v.Providers {
				if from == to {
					line.Cells = append(line.Cells, cell{To: to, Same: true})
					continue
				}
				if v.Trouble != "" {
					line.Cells = append(line.Cells, cell{To: to, Code: "no answer"})
					continue
				}
				one, err := c.ask(r.Context(), from, to, id)
				if err != nil {
					v.Trouble = err.Error()
				}
				line.Cells = append(line.Cells, one)
			}
			m.Rows = append(m.Rows, line)
		}
		v.Contracts = append(v.Contracts, m)
	}
	slices.Reverse(v.Contracts) // triage first: the jobs here are of that contract
	return page{Name: "gate", Title: "Gate", Topics: "gate store", View: v}
}

// reread is how long the service may take to see a changed certificate.
const reread = 4 * time.Second

// onGate asks the gate, or changes a certificate.
func (c *Console) onGate(r *http.Request) answer {
	from, to, contract := r.PostFormValue("from"), r.PostFormValue("to"), r.PostFormValue("contract")
	if _, err := c.certs.path(to, contract); err != nil {
		return bad("%v.", err)
	}
	var err error
	open, did := false, ""
	switch r.PathValue("verb") {
	case "ask":
		return c.askGate(r.Context(), from, to, contract)
	case "certify":
		err, open, did = c.certs.certify(to, contract), true, "certified again"
	case "expire":
		err, did = c.certs.expire(to, contract), "left with a certificate that has ended"
	case "withdraw":
		err, did = c.certs.withdraw(to, contract), "left without a certificate"
	default:
		return bad("The gate has no such switch.")
	}
	if err != nil {
		return bad("The certificate could not be changed: %v.", err)
	}
	if !c.agreed(r.Context(), to, contract, open) {
		c.hub.tell("gate", "")
		return answer{Sentence: to + " is " + did + " for " + contract + ". The service has not seen it yet; look again."}
	}
	c.hub.tell("gate", "")
	return answer{Sentence: to + " is " + did + " for " + contract + ", and the service goes by it."}
}

// askGate runs the gate for one failover.
func (c *Console) askGate(ctx context.Context, from, to, contract string) answer {
	if from == to {
		return bad("A failover goes to another provider: choose two.")
	}
	one, err := c.ask(ctx, from, to, contract)
	if err != nil {
		return bad("The service did not answer: %v.", err)
	}
	if one.Allowed {
		return answer{Sentence: "Yes: " + from + " may fail over to " + to + " for " + contract + "."}
	}
	text := "No: " + from + " may not fail over to " + to + " for " + contract + ", because " + one.Sentence + "."
	for _, more := range one.More {
		text += " Also: " + more + "."
	}
	return answer{Sentence: text}
}

// agreed waits until both replicas answer as the certificates stand.
func (c *Console) agreed(ctx context.Context, to, contract string, open bool) bool {
	ctx, cancel := context.WithTimeout(ctx, reread)
	defer cancel()
	from := primary
	if to == primary {
		from = fallback
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for row := 0; row < 4; { // the balancer takes the replicas in turn
		one, err := c.ask(ctx, from, to, contract)
		if row++; err != nil || one.Allowed != open {
			row = 0
		}
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
	}
	return true
}
