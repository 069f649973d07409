package httpapi

import (
	"time"

	"github.com/interlock-harness/interlock/service/internal/job"
)

type stuckBody struct {
	Owner    job.Owner `json:"owner"`
	Contract string    `json:"contract"`
	AgeMS    int64     `json:"age_ms"`
	attemptBody
}

type unknownList struct {
	Attempts []stuckBody `json:"attempts"`
}

// listUnknown answers GET /v1/unknown: attempts whose outcome nobody knows, the
// oldest first, for whoever must ask the provider or decide. An operator sees
// those of all owners.
func listUnknown(s *Server, c *call) error {
	q, err := c.query("older_than_ms", "limit")
	if err != nil {
		return err
	}
	limit, err := pageLimit(q)
	if err != nil {
		return err
	}
	age := int64(0)
	if text, ok := q["older_than_ms"]; ok {
		if age, ok = positive(text); !ok || age > int64(365*24*time.Hour/time.Millisecond) {
			return refuse(queryInvalid, "older_than_ms is 1 to a year")
		}
	}
	ctx, cancel := c.storeContext()
	defer cancel()
	stuck, err := s.store.Stuck(ctx, c.who.scope(), time.Duration(age)*time.Millisecond, limit)
	if err != nil {
		return err
	}
	now := time.Now()
	return c.answer(200, unknownList{Attempts: shapeAll(stuck, func(a job.Stuck) stuckBody {
		return stuckBody{Owner: a.Owner, Contract: a.Contract, AgeMS: max(0, now.Sub(a.Attempt.Since).Milliseconds()), attemptBody: shapeAttempt(a.Attempt)}
	})})
}
