package standin

import "net/http"

// llamaCpp is the chat completions of llama.cpp's server: the shape of OpenAI's. It
// passes over fields that it does not know, and takes a word for tool_choice only.
type llamaCpp struct{}

func (llamaCpp) read(r *http.Request, data []byte) (Ask, *Failure) {
	ask, refused := lenientChat(r, data)
	if n, ok := parseNode(string(data)); ok { // an object is read as auto
		for _, m := range n.members {
			if m.name == "tool_choice" && m.value.kind != '"' {
				ask.ToolForced = false
			}
		}
	}
	return ask, refused
}

func (llamaCpp) reply(a Ask, m Message) Reply { return withoutWords(m).chat(a) }

func (llamaCpp) failure(f Failure) Reply {
	reply := body(f.Status, compact(object{"error": llamaCppError(f)}))
	if f.RetryAfter != "" {
		reply.Header.Set("Retry-After", f.RetryAfter)
	}
	return reply
}

func (llamaCpp) broken(f Failure) Piece {
	return Piece{Data: string(compact(object{"error": llamaCppError(f)}))}
}

func llamaCppError(f Failure) object {
	kind := map[int]string{400: "invalid_request_error", 401: "authentication_error", 404: "not_found_error", 503: "unavailable_error"}[f.Status]
	if kind == "" {
		kind = "server_error"
	}
	return object{"code": f.Status, "message": f.Message, "type": kind}
}
