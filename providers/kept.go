package providers

// Kept is what an answer says of work that the provider keeps under an id.
type Kept struct {
	ID     string // empty: the answer names none that could be asked for
	Status string // in the provider's words, empty when it states none
	Ended  bool   // by its status no work goes on
}
