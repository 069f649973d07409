package standin

// promptFaults are servers that render or count prompts wrongly, and answer well.
// How they do it is the business of providers/prompt/standin, which plays the
// endpoints that show it.
var promptFaults = []Fault{
	{Name: "no-generation-prompt", Prompt: "no-generation-prompt"},
	{Name: "list-literal-content", Prompt: "list-literal-content"},
	{Name: "extra-bos", Prompt: "extra-bos"},
	{Name: "other-vocabulary", Prompt: "other-vocabulary"},
	{Name: "system-dropped", Prompt: "system-dropped"},
	{Name: "history-dropped", Prompt: "history-dropped"},
	{Name: "special-token-injection", Prompt: "special-token-injection"},
	{Name: "nfc-rewrite", Prompt: "nfc-rewrite"},
	{Name: "small-window", Prompt: "small-window"},

	{Name: "double-count", Prompt: "double-count"},

	{Name: "usage-doubled", Limited: func(_ Ask, m *Message) { m.Input *= 2 }},
	{Name: "usage-without-system", Limited: func(a Ask, m *Message) { m.Input -= tokens(a.System) }},
}
