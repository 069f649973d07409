package scenarios

import (
	"fmt"
	"sync"

	"github.com/interlock-harness/interlock/harness/target"
)

// answer is what one of several calls at once came back with.
type answer struct {
	job target.Job
	err error
}

// together makes n calls that leave one barrier at the same moment, and returns
// their answers in the order of i.
func together(n int, call func(i int) (target.Job, error)) []answer {
	answers := make([]answer, n)
	var ready, done sync.WaitGroup
	barrier := make(chan struct{})
	for i := range n {
		ready.Add(1)
		done.Go(func() {
			ready.Done()
			<-barrier
			answers[i].job, answers[i].err = call(i)
		})
	}
	ready.Wait()
	close(barrier)
	done.Wait()
	return answers
}

// idsOf counts the answers by the job that they name; an answer without a job
// counts under its error.
func idsOf(answers []answer) map[string]int {
	ids := map[string]int{}
	for _, a := range answers {
		if a.err != nil {
			ids[a.err.Error()]++
			continue
		}
		ids[a.job.ID]++
	}
	return ids
}

// created counts the answers that say the job is new.
func created(answers []answer) int {
	n := 0
	for _, a := range answers {
		if a.err == nil && a.job.Answer.Status == 201 {
			n++
		}
	}
	return n
}

// nth is a name with a number, counted from 1.
func nth(name string, i int) string { return fmt.Sprintf("%s-%d", name, i+1) }

// pending is a call that goes on beside the spec.
type pending struct {
	done   chan struct{}
	result answer
}

// inBackground makes one call beside the spec. Its context bounds it.
func inBackground(call func(i int) (target.Job, error), i int) *pending {
	p := &pending{done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.result.job, p.result.err = call(i)
	}()
	return p
}

// over says whether the call came back.
func (p *pending) over() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// answer waits for the call to come back.
func (p *pending) answer() answer {
	<-p.done
	return p.result
}
