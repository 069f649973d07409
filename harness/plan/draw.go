package plan

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// Limits of what is drawn.
const (
	mostFaults = 5
	mostJobs   = 50
)

// Draw makes plan number of seed: 1 to 5 faults over 1 to 50 jobs. The same seed
// and number give the same plan, byte for byte.
func Draw(seed int64, number int) Plan {
	d := &drawer{Rand: rand.New(rand.NewPCG(uint64(seed), uint64(number)))}
	d.faults = 1 + d.weighted(30, 30, 20, 10, 10)
	jobs := d.jobs()
	lists := make([][]Step, jobs)
	for i := range lists {
		lists[i] = d.story(fmt.Sprintf("j%d", i+1))
	}
	if d.used == 0 {
		lists[0] = append([]Step{{Do: Stall, Job: "j1", N: 1}}, lists[0]...)
	}
	return Plan{Format: Format, Seed: seed, Number: number, Steps: d.shuffled(lists)}
}

type drawer struct {
	*rand.Rand
	faults int // how many may be drawn
	used   int
}

// weighted returns an index, each as often as its weight says.
func (d *drawer) weighted(weights ...int) int {
	sum := 0
	for _, w := range weights {
		sum += w
	}
	at := d.IntN(sum)
	for i, w := range weights {
		if at -= w; at < 0 {
			return i
		}
	}
	return 0
}

func (d *drawer) chance(percent int) bool { return d.IntN(100) < percent }

// jobs draws how many there are: most plans are small, since small ones are
// quick and say more.
func (d *drawer) jobs() int {
	switch d.weighted(50, 30, 16, 4) {
	case 0:
		return 1
	case 1:
		return 2 + d.IntN(3)
	case 2:
		return 5 + d.IntN(8)
	}
	return 13 + d.IntN(mostJobs-12)
}

// take reports whether one more fault may be drawn, and counts it.
func (d *drawer) take(percent int) bool {
	if d.used == d.faults || !d.chance(percent) {
		return false
	}
	d.used++
	return true
}

// story draws what happens to one job.
func (d *drawer) story(job string) []Step {
	var steps []Step
	add := func(s Step) {
		s.Job = job
		steps = append(steps, s)
	}
	one := func(verbs ...Verb) Verb { return verbs[d.IntN(len(verbs))] }
	first := Step{Do: Submit}
	if d.chance(40) {
		first.Clients = 2 + d.IntN(7)
	}
	switch {
	case first.Clients > 1 && d.take(30):
		add(Step{Do: HoldCommit}) // a gate says more than luck
	case d.take(25):
		add(Step{Do: one(LostResponse, LostRequest, Duplicate, AckLost, CommitLost)})
	}
	silent := false               // the provider holds each call of the job
	attempt := func(n int) bool { // what becomes of the call of attempt n; true: it is held
		if silent {
			return true
		}
		if d.take(60) {
			if silent = d.chance(25); silent {
				n = 0
			}
			add(Step{Do: Stall, N: n})
			return true
		}
		if d.take(30) {
			add(Step{Do: one(Refuse, BreakOff, Reject), N: n})
		}
		return false
	}
	held := []int{}
	if attempt(1) {
		held = append(held, 1)
	}
	add(first)
	n := 1
	for range d.weighted(20, 20, 20, 20, 10, 10) {
		switch {
		case d.chance(12):
			add(Step{Do: one(SubmitOther, SubmitForeign, Submit, Read)})
		case len(held) > 0 && held[len(held)-1] == n && d.chance(50):
			// an operator takes the open attempt out of the way, or tries to go on
			add(Step{Do: one(Release, Release, CancelAttempt, Resolve, Start), N: n})
			if steps[len(steps)-1].Do == Start {
				steps[len(steps)-1].N = 0
			}
		case len(held) > 0 && d.chance(30):
			if d.take(30) {
				add(Step{Do: one(LockJob, AckLost, CommitLost)})
			}
			i := d.IntN(len(held))
			add(Step{Do: Answer, N: held[i]})
			held = slices.Delete(held, i, i+1)
		case d.chance(12):
			add(Step{Do: Cancel})
		case n < 4:
			n++
			if attempt(n) {
				held = append(held, n)
			}
			s := Step{Do: Start}
			if d.chance(30) {
				s.Clients = 2 + d.IntN(3)
				if d.take(30) {
					add(Step{Do: HoldCommit})
				}
			}
			add(s)
		}
		if d.take(4) {
			steps = append(steps, Step{Do: one(KillWorker, KillAPI, PauseWorker)})
		}
	}
	if len(held) > 1 && d.chance(60) { // all of them stand before their write at once
		if d.take(80) {
			add(Step{Do: LockJob})
		}
		add(Step{Do: Answer})
		held = nil
	}
	d.Shuffle(len(held), func(i, j int) { held[i], held[j] = held[j], held[i] })
	for _, n := range held {
		add(Step{Do: Answer, N: n})
	}
	if d.chance(25) {
		add(Step{Do: Read})
	}
	return steps
}

// shuffled merges the stories of all jobs; each keeps its own order.
func (d *drawer) shuffled(lists [][]Step) []Step {
	var steps []Step
	for {
		lists = slices.DeleteFunc(lists, func(l []Step) bool { return len(l) == 0 })
		if len(lists) == 0 {
			return steps
		}
		i := d.IntN(len(lists))
		steps = append(steps, lists[i][0])
		lists[i] = lists[i][1:]
	}
}
