package standin_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/providers/prompt/render"
	"github.com/interlock-harness/interlock/providers/prompt/standin"
)

func TestTheToyRouteIsClean(t *testing.T) {
	toy, err := standin.Toy()
	if err != nil {
		t.Fatal(err)
	}
	if report := render.Check(toy); !report.OK() {
		t.Errorf("%+v", report.Results)
	}
}

func TestMalformedRequestsAreRefusedInWords(t *testing.T) {
	toy, err := standin.Toy()
	if err != nil {
		t.Fatal(err)
	}
	server, err := standin.Start(toy, standin.ToyTemplate)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		http.DefaultClient.CloseIdleConnections()
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	}()
	for _, c := range []struct{ path, body string }{
		{"/tokenize", "{"}, {"/tokenize", "{}"}, {"/detokenize", `{"tokens":"a"}`}, {"/apply-template", `{"messages":[]}`},
		{"/chat_tokenize", `{"messages":[{"role":"user","content":[1]}]}`}, {"/v1/messages/count_tokens", `[]`},
		{"/v1beta/models/toy:countTokens", `{}`}, {"/v1beta/models/toy:countTokens", `{"contents":[],"generateContentRequest":{}}`},
	} {
		resp, err := http.Post(server.URL+c.path, "application/json", strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusBadRequest || !strings.Contains(string(data), `"message"`) {
			t.Errorf("%s %s: %d %s, %v", c.path, c.body, resp.StatusCode, data, err)
		}
	}
}
