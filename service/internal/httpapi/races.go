package httpapi

import (
	"strconv"

	"github.com/interlock-harness/interlock/service/internal/job"
)

type raceList struct {
	Races []raceBody `json:"races"`
	Next  string     `json:"next,omitempty"` // number of the last race here; absent on the last page
}

// listRaces answers GET /v1/races, newest first: results that came too late,
// with the digest and size of what was dropped.
func listRaces(s *Server, c *call) error {
	q, err := c.query("job", "limit", "after")
	if err != nil {
		return err
	}
	f := job.RaceFilter{}
	if f.Limit, err = pageLimit(q); err != nil {
		return err
	}
	if after, ok := q["after"]; ok {
		if f.After, ok = positive(after); !ok {
			return refuse(cursorInvalid, "after is the number of a race")
		}
	}
	owner := c.who.Owner
	if id, ok := q["job"]; ok {
		if _, err := parseID(id); err != nil {
			return err
		}
		f.Job, owner = job.ID(id), c.who.scope()
		if _, err := c.readJob(owner, f.Job); err != nil {
			return err // another owner's job has no list, not an empty one
		}
	}
	ctx, cancel := c.storeContext()
	defer cancel()
	limit := f.Limit
	f.Limit++
	races, err := s.store.Races(ctx, owner, f)
	if err != nil {
		return err
	}
	list := raceList{}
	if len(races) > limit {
		races = races[:limit]
		list.Next = strconv.FormatInt(races[limit-1].ID, 10)
	}
	list.Races = shapeAll(races, shapeRace)
	return c.cachedByContent(list)
}
