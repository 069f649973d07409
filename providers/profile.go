package providers

// Profile is one route to one model: what a certificate binds. A profile file
// (`fixtures/profiles/<name>.yaml`) has these fields under their JSON names;
// unknown fields are refused.
type Profile struct {
	Name     string   `json:"name"`
	Protocol Protocol `json:"protocol"`
	BaseURL  string   `json:"base_url"` // scheme, host, optional port and path; the adapter adds its own path
	Model    string   `json:"model"`
	Served   []string `json:"served,omitempty"` // further model ids that may be named in answers
	Auth     Auth     `json:"auth,omitzero"`
	// Headers are fixed headers sent with each call (API versions).
	Headers map[string]string `json:"headers,omitempty"`
	// IdempotencyHeader receives the attempt's identity where the provider has
	// such a field; empty where it has none. Never Idempotency-Key itself: Go's
	// transport would silently replay the POST.
	IdempotencyHeader string `json:"idempotency_header,omitempty"`
	// RefusedStatuses are HTTP statuses for which this provider documents that
	// the request was shed before execution, beyond those of its protocol.
	RefusedStatuses []int `json:"refused_statuses,omitempty"`
	// Background has the provider do the work in the background and keep it under
	// an id, so that an answer that was lost can be asked for. For protocols that
	// can (openai-responses).
	Background bool `json:"background,omitempty"`
	// AllowLoopback permits a loopback or private base URL.
	AllowLoopback bool `json:"allow_loopback,omitempty"`
	// Upstream names the company or cluster that really serves the model, so
	// that a contract may ask for an independent fallback.
	Upstream string `json:"upstream,omitempty"`
	// Prompt says how the route renders prompts and counts tokens; nil where that
	// is not known, and then nothing is certified about it.
	Prompt *Prompt `json:"prompt,omitempty"`
}

// Auth says how the API key travels. The key itself is read from the
// environment variable Env, never from a file of the project.
type Auth struct {
	Header string `json:"header,omitempty"` // for example Authorization, x-api-key
	Scheme string `json:"scheme,omitempty"` // for example Bearer; empty for the bare key
	Env    string `json:"env,omitempty"`
}
