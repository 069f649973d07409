package judge

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/strictjson"
)

// model is step 8.
func model(t providers.Transcript, r *providers.Response) (providers.Judgement, bool) {
	if r.Model == "" || t.Request.Model == "" {
		return next()
	}
	names := r.Models
	if len(names) == 0 {
		names = []string{r.Model}
	}
	for _, name := range names {
		if !SameModel(t.Request.Model, name) && !slices.Contains(t.Served, name) {
			return found(providers.Reject, "model.mismatch", at(r.At.Model), "%s was asked for, %s answers",
				strconv.QuoteToASCII(cut(t.Request.Model, 128)), strconv.QuoteToASCII(cut(name, 128)))
		}
	}
	return next()
}

// SameModel reports whether an answer that names the model named may come from the
// one that was asked for: the same name, or that name followed by a date, which
// is a snapshot of it.
func SameModel(asked, named string) bool {
	asked, named = strings.TrimPrefix(asked, "models/"), strings.TrimPrefix(named, "models/")
	if named == asked {
		return true
	}
	rest, ok := strings.CutPrefix(named, asked+"-")
	if !ok {
		return false
	}
	for _, layout := range []string{time.DateOnly, "20060102"} {
		if len(rest) == len(layout) {
			if _, err := time.Parse(layout, rest); err == nil {
				return true
			}
		}
	}
	return false
}

// equalNumbers compares by value; what is no JSON number equals only itself.
func equalNumbers(a, b json.Number) bool {
	if a == b {
		return true
	}
	for _, n := range []json.Number{a, b} {
		if strictjson.Check([]byte(n), strictjson.Limits{}) != nil {
			return false
		}
	}
	return strictjson.CanonicalNumber(a) == strictjson.CanonicalNumber(b)
}
