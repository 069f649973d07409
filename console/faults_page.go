package console

import (
	"context"
	"net/http"
	"slices"
	"strconv"
)

// placeView is one edge on the page of faults.
type placeView struct {
	place
	Standing []standing
}

type faultsView struct {
	Places  []placeView
	Healed  []standing // the newest ones
	InPlace int
}

func (c *Console) faultsPage(*http.Request) page {
	var v faultsView
	all := c.faults.all()
	for _, p := range places() {
		view := placeView{place: p}
		for _, s := range all {
			if s.Place == p.ID && s.Ended.IsZero() {
				view.Standing = append(view.Standing, s)
				v.InPlace++
			}
		}
		v.Places = append(v.Places, view)
	}
	slices.Reverse(all)
	for _, s := range all {
		if !s.Ended.IsZero() && len(v.Healed) < 12 {
			v.Healed = append(v.Healed, s)
		}
	}
	return page{Name: "faults", Title: "Faults", Topics: "fault store", View: v}
}

// onFault puts a fault in place, or lifts one or all.
func (c *Console) onFault(r *http.Request) answer {
	ctx, cancel := context.WithTimeout(r.Context(), 2*toAct)
	defer cancel()
	var err error
	sentence := ""
	switch r.PathValue("verb") {
	case "add":
		err = c.faults.add(ctx, r.PostFormValue("place"), r.PostFormValue("way"))
		sentence = "The fault is in place. It counts once it has fired."
	case "heal":
		n, _ := strconv.Atoi(r.PostFormValue("n")) // 0 is no fault
		err = c.faults.heal(ctx, n)
		sentence = "Healed."
	case "heal-all":
		err = c.faults.healAll(ctx)
		sentence = "All is healed: proxies are gone, processes run, PostgreSQL answers."
	default:
		err = errNoPlace
	}
	if err != nil {
		return bad("%v.", err)
	}
	return answer{Sentence: sentence}
}
