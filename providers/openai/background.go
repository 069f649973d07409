package openai

import (
	"errors"
	"net/http"
	"regexp"
	"slices"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/envelope"
	"github.com/interlock-harness/interlock/providers/strictjson"
)

// responseID is what an id may look like before it becomes part of a URL. It was
// sent by a provider.
var responseID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,200}$`)

// terminal are the statuses after which no work goes on.
var terminal = []string{"completed", "failed", "incomplete", "cancelled"}

// Retrieve implements wire.Background: GET {base}/responses/{id}. It answers with
// the object that the first request would have been answered with.
func (Responses) Retrieve(p providers.Profile, id string) (providers.HTTPRequest, error) {
	if !responseID.MatchString(id) {
		return providers.HTTPRequest{}, errNoID
	}
	return envelope.Bare(p, http.MethodGet, "responses", id)
}

// Cancel implements wire.Background: POST {base}/responses/{id}/cancel.
func (Responses) Cancel(p providers.Profile, id string) (providers.HTTPRequest, error) {
	if !responseID.MatchString(id) {
		return providers.HTTPRequest{}, errNoID
	}
	return envelope.Bare(p, http.MethodPost, "responses", id, "cancel")
}

var errNoID = errors.New("the id of the response is none that could be asked for")

// Kept implements wire.Background.
func (Responses) Kept(t providers.Transcript) providers.Kept {
	var k providers.Kept
	if t.Status/100 != 2 {
		return k
	}
	take := func(response strictjson.Raw) {
		if id := response.Get("id").Text(); k.ID == "" && responseID.MatchString(id) {
			k.ID = id
		}
		if status := response.Get("status"); status.IsString() {
			k.Status = status.Text()
		}
	}
	if envelope.Streamed(t) {
		var b envelope.Builder
		b.Events(t, func(_ string, data strictjson.Raw) { take(data.Get("response")) })
	} else if root, _ := envelope.Body(t, true); root != nil {
		take(root)
	}
	k.Ended = slices.Contains(terminal, k.Status)
	return k
}
