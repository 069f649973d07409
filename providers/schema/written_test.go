package schema_test

import (
	"testing"

	"github.com/interlock-harness/interlock/providers/schema"
)

func TestJSONIsTheSchemaAsItWasWritten(t *testing.T) {
	s, err := schema.Compile([]byte("{\n \"type\": \"object\", \"properties\": {\"z\": {\"type\": \"string\", \"maxLength\": 200, \"pattern\": \"^\\\\d+$\"}, \"a\": {\"minimum\": 1.50}}}"))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"type":"object","properties":{"z":{"type":"string","maxLength":200,"pattern":"^\\d+$"},"a":{"minimum":1.50}}}`
	if got := string(s.JSON()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
