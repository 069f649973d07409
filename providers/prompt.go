package providers

// Prompt says how one route renders prompts and counts tokens. It is a file of
// its own for `interlock prompt`, and the section prompt of a profile, which a
// certificate binds by the digests in it. Files that it names are relative to the
// file in which it stands.
type Prompt struct {
	Name     string `json:"name,omitempty"` // of a file of its own; a section has the name of its profile
	Template string `json:"template"`       // file of the chat template
	// TemplateSHA256 is the digest of that file; a section must have it.
	TemplateSHA256 string          `json:"template_sha256,omitempty"`
	Tokenizer      PromptTokenizer `json:"tokenizer"`
	// Oracle names the server behind the base URL that shows what it makes of a
	// prompt (vllm, llamacpp, tgi) or at least counts it (anthropic, gemini); empty
	// where nothing does.
	Oracle string `json:"oracle,omitempty"`
	// Variables are further variables of the template: bos_token, eos_token, ...
	Variables map[string]string `json:"variables,omitempty"`
	// BOS is the token that begins a prompt, empty where the model has none.
	BOS string `json:"bos,omitempty"`
	// AddSpecialTokens: the server lets the tokenizer put its own special tokens
	// around the rendered prompt. Chat endpoints do not, as a rule.
	AddSpecialTokens bool `json:"add_special_tokens,omitempty"`
	// ContentTokens says which added tokens the server recognises inside the
	// content of a message: "all" (the default: it tokenizes the whole prompt at
	// once), "unflagged" (split_special_tokens) or "none".
	ContentTokens string `json:"content_tokens,omitempty"`
	// FlattensParts: the server turns content in parts into text before the
	// template sees it.
	FlattensParts bool `json:"flattens_parts,omitempty"`
	// ArgumentsAs is the only shape in which the server hands arguments of tool
	// calls to the template: "text" or "object"; empty for both.
	ArgumentsAs string `json:"arguments_as,omitempty"`
	// AnswerHeader is the text that asks for the answer, empty where it need not be known.
	AnswerHeader string `json:"answer_header,omitempty"`
	// ContextWindow is the most tokens of prompt and answer together, 0 if unknown.
	ContextWindow int `json:"context_window,omitempty"`
	// K is how many tokens the provider may count more than we do.
	K int `json:"k,omitempty"`
	// Deviations are what this route does otherwise and may: "R1 raises",
	// "R7 never", ...
	Deviations []string `json:"deviations,omitempty"`
}

// PromptTokenizer is a tokenizer's file and what is known about it.
type PromptTokenizer struct {
	File   string     `json:"file"`
	SHA256 string     `json:"sha256"`
	Known  []KnownIDs `json:"known,omitempty"`
}

// KnownIDs is a text and its ids, measured at the provider.
type KnownIDs struct {
	Text string `json:"text"`
	IDs  []int  `json:"ids"`
}
