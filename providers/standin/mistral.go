package standin

import (
	"encoding/json"
	"net/http"
)

// mistral is Mistral chat completions: the shape of OpenAI's, other words.
type mistral struct{}

func (mistral) read(r *http.Request, data []byte) (Ask, *Failure) { return openAIChat{}.read(r, data) }

func (mistral) reply(a Ask, m Message) Reply {
	if m.Refusal != "" { // no field for it: the model says so in plain text
		m.Text, m.Refusal = m.Text+m.Refusal, ""
	}
	if m.Blocked { // nor a word for a filter
		m.Finish = FinishStop
	}
	return openAIChat{}.reply(a, m)
}

func (mistral) failure(f Failure) Reply {
	kind := map[int]string{400: "invalid_request_error", 401: "invalid_api_key", 404: "invalid_model", 429: "rate_limited", 503: "service_unavailable"}[f.Status]
	if kind == "" {
		kind = "internal_server_error"
	}
	reply := body(f.Status, compact(object{"object": "error", "message": f.Message, "type": kind, "param": nil, "code": nullable(f.Code)}))
	if f.RetryAfter != "" {
		reply.Header.Set("Retry-After", f.RetryAfter)
	}
	return reply
}

func (mistral) broken(f Failure) Piece {
	data, _ := json.Marshal(object{"object": "error", "message": f.Message, "type": "service_unavailable", "code": "3505"})
	return Piece{Data: string(data)}
}
