package plan

import "slices"

// Pinned is p with a gate wherever several clients or answers race, so that their
// order is not left to luck: the first COMMIT of clients that come at once is held
// until the others have come as far as they can, and answers that are let go at
// once stand before the row of their job together. A request that is delivered
// twice is taken for two clients. ok is false when p races nowhere else.
func (p Plan) Pinned() (pinned Plan, ok bool) {
	pinned = p
	pinned.Steps = nil
	waiting := map[Step]bool{} // gates that are in place already
	twice := map[string]bool{} // jobs whose next submit is delivered twice
	for _, s := range p.Steps {
		hold, lock := Step{Do: HoldCommit, Job: s.Job}, Step{Do: LockJob, Job: s.Job}
		switch s.Do {
		case HoldCommit, LockJob:
			waiting[s] = true
		case Duplicate:
			twice[s.Job] = true
			ok = true
			continue
		case Submit, Start:
			if s.Do == Submit && twice[s.Job] {
				s.Clients = max(2, s.Clients)
				delete(twice, s.Job)
			}
			if s.Clients > 1 && !waiting[hold] {
				pinned.Steps = append(pinned.Steps, hold)
				ok = true
			}
			delete(waiting, hold)
		case Answer:
			if s.N == 0 && !waiting[lock] {
				pinned.Steps = append(pinned.Steps, lock)
				ok = true
			}
			delete(waiting, lock)
		}
		pinned.Steps = append(pinned.Steps, s)
	}
	return pinned, ok && !slices.Equal(p.Steps, pinned.Steps)
}
