package standin

import "net/http"

// vllm is vLLM's chat completions: the shape of OpenAI's. It passes over fields that
// it does not know and states errors by their class and their status.
type vllm struct{}

func (vllm) read(r *http.Request, data []byte) (Ask, *Failure) { return lenientChat(r, data) }

func (vllm) reply(a Ask, m Message) Reply { return withoutWords(m).chat(a) }

func (vllm) failure(f Failure) Reply {
	reply := body(f.Status, compact(object{"error": vllmError(f)}))
	if f.RetryAfter != "" {
		reply.Header.Set("Retry-After", f.RetryAfter)
	}
	return reply
}

func (vllm) broken(f Failure) Piece {
	return Piece{Data: string(compact(object{"error": vllmError(f)}))}
}

func vllmError(f Failure) object {
	kind := map[int]string{400: "BadRequestError", 401: "AuthenticationError", 404: "NotFoundError", 429: "RateLimitError"}[f.Status]
	if kind == "" {
		kind = "InternalServerError"
	}
	return object{"message": f.Message, "type": kind, "param": nil, "code": f.Status}
}

// lenientChat reads a request as OpenAI's server does, and passes over what that
// one would refuse to know.
func lenientChat(r *http.Request, data []byte) (Ask, *Failure) {
	ask, refused := openAIChat{}.read(r, data)
	if refused != nil && refused.unknown != nil {
		return openAIChat{}.read(r, without(data, refused.unknown))
	}
	return ask, refused
}

// chatMessageOnly is a message of a server that has no field for a refusal and no
// word for a filter: the model says so in plain text, or says nothing.
type chatMessageOnly Message

func withoutWords(m Message) chatMessageOnly {
	if m.Refusal != "" {
		m.Text, m.Refusal = m.Text+m.Refusal, ""
	}
	if m.Blocked {
		m.Finish = FinishStop
	}
	return chatMessageOnly(m)
}

func (m chatMessageOnly) chat(a Ask) Reply { return openAIChat{}.reply(a, Message(m)) }
