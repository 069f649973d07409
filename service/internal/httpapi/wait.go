package httpapi

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/interlock-harness/interlock/service/internal/job"
)

// prefer reads `Prefer: wait=N` (RFC 7240), N in whole seconds, and cuts it to
// limit. It returns nil where the client does not ask to wait.
func prefer(h http.Header, limit time.Duration) (*time.Duration, error) {
	for _, line := range h.Values("Prefer") {
		for item := range strings.SplitSeq(line, ",") {
			item, _, _ = strings.Cut(item, ";")
			name, value, _ := strings.Cut(strings.TrimSpace(item), "=")
			if !strings.EqualFold(strings.TrimSpace(name), "wait") {
				continue
			}
			value = strings.Trim(strings.TrimSpace(value), `"`)
			seconds, err := strconv.ParseUint(value, 10, 31)
			if err != nil {
				return nil, refuse(headerInvalid, "Prefer: wait takes whole seconds")
			}
			wait := min(time.Duration(seconds)*time.Second, limit)
			return &wait, nil
		}
	}
	return nil, nil
}

// waitAndAnswer answers 200 as soon as j has ended, else 202 when the time is
// up or the server drains. A slow provider is never a 504: the job goes on.
func (c *call) waitAndAnswer(j job.Job, wait time.Duration) error {
	c.w.Header().Set("Preference-Applied", "wait="+strconv.Itoa(int(wait/time.Second)))
	j, err := c.await(j, wait)
	if err != nil {
		return err
	}
	status := http.StatusAccepted
	if j.Status.Ended() {
		status = http.StatusOK
	}
	return c.answerJob(status, j)
}

func (c *call) await(j job.Job, wait time.Duration) (job.Job, error) {
	if j.Status.Ended() || wait == 0 {
		return j, nil
	}
	moved, leave := c.s.pulse.watch(j.ID)
	defer leave()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		next := moved() // before the read, so that no move falls between the two
		now, err := c.readJob(c.who.Owner, j.ID)
		if err != nil || now.Status.Ended() {
			return now, err
		}
		select {
		case <-next:
		case <-timer.C:
			return now, nil
		case <-c.s.draining:
			return now, nil
		case <-c.r.Context().Done(): // the client is gone; nobody reads the answer
			return now, nil
		}
	}
}

func (c *call) readJob(owner job.Owner, id job.ID) (job.Job, error) {
	ctx, cancel := c.storeContext()
	defer cancel()
	return c.s.store.Job(ctx, owner, id)
}
