package standin_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/standin"
)

// Gemini has two forms of a schema; the types of the older one are shouted.
func TestGeminiSchemasOfBothFormsAreFilled(t *testing.T) {
	const (
		older  = `{"type":"OBJECT","required":["n"],"properties":{"n":{"type":"INTEGER"}}}`
		newer  = `{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}}`
		called = `"toolConfig":{"functionCallingConfig":{"mode":"ANY"}},"tools":[{"functionDeclarations":[{"name":"submit",`
	)
	s := start(t, standin.Options{Protocol: providers.Gemini})
	for body, want := range map[string]string{
		`"generationConfig":{"responseSchema":` + older + `}`:     `"text":"{\"n\":0}"`,
		`"generationConfig":{"responseJsonSchema":` + newer + `}`: `"text":"{\"n\":0}"`,
		called + `"parameters":` + older + `}]}]`:                 `"args":{"n":0}`,
		called + `"parametersJsonSchema":` + newer + `}]}]`:       `"args":{"n":0}`,
		`"labels":{}`: `"text":"{}"`,
	} {
		res, err := http.Post(s.URL()+"/v1beta/models/m:generateContent", "application/json",
			strings.NewReader(`{"contents":[{"parts":[{"text":"x"}]}],`+body+`}`))
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || !strings.Contains(string(data), want) {
			t.Errorf("%s: %v\n%s", body, err, data)
		}
	}
}
