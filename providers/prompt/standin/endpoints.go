package standin

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/interlock-harness/interlock/providers/prompt/bpe"
	"github.com/interlock-harness/interlock/providers/prompt/render"
)

// tokenize is vLLM's for a chat or a prompt, and llama.cpp's for a content.
func (s *Server) tokenize(w http.ResponseWriter, r *http.Request) {
	var body struct {
		chat
		Prompt     *string
		AddSpecial *bool `json:"add_special_tokens"`
		// llama.cpp
		Content      *string
		AddSpecialLC bool  `json:"add_special"`
		ParseSpecial *bool `json:"parse_special"`
	}
	if !read(w, r, &body) {
		return
	}
	var ids []int
	var err error
	switch {
	case body.Content != nil:
		o := bpe.Options{AddSpecialTokens: body.AddSpecialLC}
		if body.ParseSpecial != nil && !*body.ParseSpecial {
			o.Added = bpe.NoAdded
		}
		ids, err = s.encode(*body.Content, o)
		answer(w, map[string]any{"tokens": some(ids)}, err)
		return
	case body.Prompt != nil:
		ids, err = s.encode(*body.Prompt, bpe.Options{AddSpecialTokens: body.AddSpecial == nil || *body.AddSpecial})
	default:
		var c render.Conversation
		if c, err = body.conversation(); err == nil {
			ids, err = s.ids(c)
		}
	}
	answer(w, map[string]any{"count": len(ids), "max_model_len": s.window(), "tokens": some(ids)}, err)
}

func (s *Server) detokenize(w http.ResponseWriter, r *http.Request) {
	var body struct{ Tokens []int }
	if !read(w, r, &body) {
		return
	}
	for i, id := range body.Tokens {
		body.Tokens[i] = s.shift(id, -1)
	}
	text, err := s.subject.Tokenizer.Decode(body.Tokens, false)
	answer(w, map[string]any{"prompt": text}, err)
}

// applyTemplate is llama.cpp's, which always asks for an answer.
func (s *Server) applyTemplate(w http.ResponseWriter, r *http.Request) {
	if c, ok := s.chatBody(w, r); ok {
		c.Generate = true
		text, err := s.render(c)
		answer(w, map[string]any{"prompt": text}, err)
	}
}

func (s *Server) props(w http.ResponseWriter, _ *http.Request) {
	answer(w, map[string]any{"chat_template": s.source, "default_generation_settings": map[string]int{"n_ctx": s.window()}}, nil)
}

func (s *Server) chatTokenize(w http.ResponseWriter, r *http.Request) {
	c, ok := s.chatBody(w, r)
	if !ok {
		return
	}
	c.Generate = true
	text, err := s.render(c)
	if err != nil {
		refuse(w, err)
		return
	}
	ids, err := s.ids(c)
	tokens := []map[string]any{}
	for _, id := range ids {
		token, _ := s.subject.Tokenizer.Token(s.shift(id, -1))
		tokens = append(tokens, map[string]any{"id": id, "text": token})
	}
	answer(w, map[string]any{"templated_text": text, "tokenize_response": tokens}, err)
}

func (s *Server) chatBody(w http.ResponseWriter, r *http.Request) (render.Conversation, bool) {
	var body chat
	if !read(w, r, &body) {
		return render.Conversation{}, false
	}
	c, err := body.conversation()
	if err != nil {
		refuse(w, err)
	}
	return c, err == nil
}

func (s *Server) anthropic(w http.ResponseWriter, r *http.Request) {
	var body struct {
		System   string
		Messages []struct{ Role, Content string }
		Tools    []struct {
			Name, Description string
			Schema            json.RawMessage `json:"input_schema"`
		}
	}
	if !read(w, r, &body) {
		return
	}
	c := conversation(body.System)
	for _, m := range body.Messages {
		c.Messages = append(c.Messages, render.Message{Role: m.Role, Content: m.Content})
	}
	for _, t := range body.Tools {
		c.Tools = append(c.Tools, tool(t.Name, t.Description, t.Schema))
	}
	n, err := s.count(c)
	answer(w, map[string]any{"input_tokens": n}, err)
}

func (s *Server) gemini(w http.ResponseWriter, r *http.Request) {
	type content struct {
		Role  string
		Parts []struct{ Text string }
	}
	var body struct {
		Contents []content
		Request  *struct {
			System   *content `json:"systemInstruction"`
			Contents []content
			Tools    []struct {
				Functions []struct {
					Name, Description string
					Parameters        json.RawMessage `json:"parametersJsonSchema"`
				} `json:"functionDeclarations"`
			}
		} `json:"generateContentRequest"`
	}
	if !strings.HasSuffix(r.PathValue("call"), ":countTokens") {
		http.NotFound(w, r)
		return
	}
	if !read(w, r, &body) {
		return
	}
	if (body.Contents == nil) == (body.Request == nil) {
		refuse(w, errors.New("exactly one of contents and generateContentRequest must be set"))
		return
	}
	c := conversation("")
	contents := body.Contents
	if q := body.Request; q != nil {
		contents = q.Contents
		if q.System != nil {
			c = conversation(text(q.System.Parts))
		}
		for _, t := range q.Tools {
			for _, f := range t.Functions {
				c.Tools = append(c.Tools, tool(f.Name, f.Description, f.Parameters))
			}
		}
	}
	for _, m := range contents {
		role := m.Role
		if role == "model" {
			role = "assistant"
		}
		c.Messages = append(c.Messages, render.Message{Role: role, Content: text(m.Parts)})
	}
	n, err := s.count(c)
	answer(w, map[string]any{"totalTokens": n}, err)
}

func conversation(system string) render.Conversation {
	c := render.Conversation{Generate: true}
	if system != "" {
		c.Messages = []render.Message{{Role: "system", Content: system}}
	}
	return c
}

func tool(name, description string, parameters json.RawMessage) render.Tool {
	return render.Tool{Type: "function", Function: render.Function{Name: name, Description: description, Parameters: parameters}}
}

func text(parts []struct{ Text string }) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

// some is ids, and [] rather than null where there are none.
func some(ids []int) []int {
	if ids == nil {
		return []int{}
	}
	return ids
}
