package ollama

import (
	"encoding/json"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/envelope"
)

type request struct {
	Model    string          `json:"model"`
	Messages []envelope.Turn `json:"messages"`
	Format   json.RawMessage `json:"format,omitempty"`
	Tools    []envelope.Tool `json:"tools,omitempty"`
	Stream   bool            `json:"stream"` // absent means true here
	Options  *options        `json:"options,omitempty"`
	// Both default to true, and then history is dropped without a word.
	Truncate bool `json:"truncate"`
	Shift    bool `json:"shift"`
}

type options struct {
	Temperature *json.Number `json:"temperature,omitempty"`
	MaxTokens   *int64       `json:"num_predict,omitempty"`
	Seed        *int64       `json:"seed,omitempty"`
	Stop        []string     `json:"stop,omitempty"`
}

// Encode implements wire.Adapter: POST {base}/api/chat. A tool cannot be forced.
func (Chat) Encode(p providers.Profile, r providers.Request) (providers.HTTPRequest, error) {
	q := request{Model: envelope.Model(p, r), Messages: envelope.Turns(r), Stream: r.Stream}
	if r.Temperature != nil || r.MaxOutputTokens != nil || r.Seed != nil || len(r.Stop) > 0 {
		q.Options = &options{r.Temperature, r.MaxOutputTokens, r.Seed, r.Stop}
	}
	if r.Mode == providers.ModeTool {
		q.Tools = envelope.Tools(r, nil)
	} else {
		q.Format = r.Schema
	}
	header := map[string]string(nil)
	if r.Stream {
		header = map[string]string{"Accept": "application/x-ndjson"}
	}
	return envelope.Post(p, header, q, "api/chat")
}
