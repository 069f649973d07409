package scenarios

import "github.com/interlock-harness/interlock/harness/stage"

// The two stand-in providers that every stage has.
const (
	openai    = stage.OpenAI
	anthropic = stage.Anthropic
)

// anyCall matches every provider call of a scenario.
var anyCall = stage.Match{}

// match matches the calls of the intent with that name.
func match(intent string) stage.Match { return stage.Match{Text: intent} }
