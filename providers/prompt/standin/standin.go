// Package standin plays the endpoints by which servers show how they render and
// count prompts: those of vLLM, llama.cpp, TGI, Anthropic and Gemini, on one real
// HTTP server on the loopback. It renders with our engines, and wrongly where it
// is told to, so that each fault can be seen to be caught.
//
// The rule it keeps: a fault changes one thing, and the answers stay well formed.
package standin

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/interlock-harness/interlock/providers/prompt/bpe"
	"github.com/interlock-harness/interlock/providers/prompt/render"
)

// Fault is one way to render or count wrongly.
type Fault string

const (
	// ExtraBOS: the ids of a chat begin with one beginning token too many.
	ExtraBOS Fault = "extra-bos"
	// OtherVocabulary: every id is that of another vocabulary.
	OtherVocabulary Fault = "other-vocabulary"
	// DropsSystem: the template never sees a system prompt.
	DropsSystem Fault = "system-dropped"
	// DropsGenerationPrompt: the prompt never asks for an answer.
	DropsGenerationPrompt Fault = "no-generation-prompt"
	// ListLiteral: content in parts reaches the template as the notation of a list.
	ListLiteral Fault = "list-literal-content"
	// DoubleCount: a count is twice what it should be.
	DoubleCount Fault = "double-count"
	// DropsHistory: of the turns of the user only the last reaches the template.
	DropsHistory Fault = "history-dropped"
	// RecognisesContent: added tokens in the text of a user become those tokens.
	RecognisesContent Fault = "special-token-injection"
	// Composes: a letter and its accent become one character.
	Composes Fault = "nfc-rewrite"
	// SmallWindow: the server was started with a context window of 64 tokens.
	SmallWindow Fault = "small-window"
)

const smallWindow = 64 // tokens

// Faults are all faults.
var Faults = []Fault{ExtraBOS, OtherVocabulary, DropsSystem, DropsGenerationPrompt, ListLiteral, DoubleCount, DropsHistory, RecognisesContent, Composes, SmallWindow}

// Server is a running stand-in.
type Server struct {
	URL     string
	subject *render.Subject
	source  string
	faults  []Fault
	http    *http.Server
	done    chan error
}

// Start starts a stand-in that renders as s does, whose template has source, with
// the given faults. Close stops it.
func Start(s *render.Subject, source string, faults ...Fault) (*Server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	server := &Server{URL: "http://" + listener.Addr().String(), subject: s, source: source, faults: faults, done: make(chan error, 1)}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /tokenize", server.tokenize)
	mux.HandleFunc("POST /detokenize", server.detokenize)
	mux.HandleFunc("POST /apply-template", server.applyTemplate)
	mux.HandleFunc("GET /props", server.props)
	mux.HandleFunc("POST /chat_tokenize", server.chatTokenize)
	mux.HandleFunc("POST /v1/messages/count_tokens", server.anthropic)
	mux.HandleFunc("POST /v1beta/models/{call}", server.gemini)
	server.http = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { server.done <- server.http.Serve(listener) }()
	return server, nil
}

// Close stops the server and waits until it has.
func (s *Server) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if served := <-s.done; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

func (s *Server) window() int {
	if s.has(SmallWindow) {
		return smallWindow
	}
	return s.subject.Profile.ContextWindow
}

func (s *Server) has(f Fault) bool { return slices.Contains(s.faults, f) }

// seen is what of c reaches the template of this server.
func (s *Server) seen(c render.Conversation) render.Conversation {
	if s.has(DropsSystem) {
		c.Messages = slices.DeleteFunc(slices.Clone(c.Messages), func(m render.Message) bool { return m.Role == "system" })
	}
	if s.has(DropsGenerationPrompt) {
		c.Generate = false
	}
	if s.has(ListLiteral) {
		c.Messages = literal(c.Messages)
	}
	if s.has(DropsHistory) {
		c.Messages = lastOfUser(c.Messages)
	}
	if s.has(Composes) {
		c.Messages = composed(c.Messages)
	}
	if c.Now.IsZero() { // a server has its own clock
		c.Now = time.Now()
	}
	return c
}

// render is what this server makes of c.
func (s *Server) render(c render.Conversation) (string, error) {
	return s.subject.Route.Render(s.seen(c))
}

// ids are the ids of c for this server's model.
func (s *Server) ids(c render.Conversation) ([]int, error) {
	model := *s.subject
	if s.has(RecognisesContent) {
		model.Profile.ContentTokens = "all"
	}
	ids, err := model.Tokenize(s.seen(c))
	for i := range ids {
		ids[i] = s.shift(ids[i], 1)
	}
	if bos, ok := s.subject.Tokenizer.ID(s.subject.Profile.BOS); ok && s.has(ExtraBOS) {
		ids = append([]int{s.shift(bos, 1)}, ids...)
	}
	return ids, err
}

func (s *Server) encode(text string, o bpe.Options) ([]int, error) {
	ids, err := s.subject.Tokenizer.Encode(text, o)
	out := make([]int, len(ids))
	for i, id := range ids {
		out[i] = s.shift(id, 1)
	}
	return out, err
}

// shift turns an id into that of the other vocabulary, or back with by -1.
func (s *Server) shift(id, by int) int {
	if !s.has(OtherVocabulary) {
		return id
	}
	size := s.subject.Tokenizer.Size()
	return (id + 7*by + size) % size
}

// count is how many tokens this server says that c has.
func (s *Server) count(c render.Conversation) (int, error) {
	ids, err := s.ids(c)
	if s.has(DoubleCount) {
		return 2 * len(ids), err
	}
	return len(ids), err
}

// read decodes the body of a request, or answers 400.
func read(w http.ResponseWriter, r *http.Request, into any) bool {
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 64<<20))
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		refuse(w, err)
		return false
	}
	return true
}

func refuse(w http.ResponseWriter, err error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": err.Error(), "type": "BadRequestError", "code": 400}})
}

// answer writes v, or err as a refusal.
func answer(w http.ResponseWriter, v any, err error) {
	if err != nil {
		refuse(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}
