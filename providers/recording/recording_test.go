package recording_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/recording"
)

var at = time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)

func transcript(body string) providers.Transcript {
	half := len(body) / 2
	return providers.Transcript{
		Protocol: providers.OpenAIChat, Request: providers.Request{Model: "m", Mode: providers.ModeTool, Stream: true}, Status: 200, End: providers.EndUnterminated,
		Header: http.Header{"Content-Type": {"text/event-stream"}, "Authorization": {"Bearer x"}, "Set-Cookie": {"a=b"}, "X-Api-Key": {"k"}, "x-GOOG-api-key": {"k"}, "X-Request-Id": {"r-1"}},
		Body:   []byte(body),
		Chunks: []providers.Chunk{{Offset: 0, Length: half, At: 1500 * time.Microsecond}, {Offset: half, Length: len(body) - half, At: 40 * time.Millisecond}},
	}
}

func meta() recording.Meta {
	return recording.Meta{Profile: "vendor", Contract: "invoice@1.0.0", Probe: "base", Case: "ml-vallam", Label: "ml-vallam", Repeat: 2}
}

func TestARecordingComesBackAsItWas(t *testing.T) {
	body := "data: {\"a\":\"\xff\xfe ആലപ്പുഴ\"}\n\n"
	r, err := recording.Of(meta(), transcript(body), []byte("question"), at)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for n := 1; n <= 2; n++ {
		folder, err := recording.Write(dir, r)
		if err != nil || folder != filepath.Join(dir, "vendor", "ml-vallam", fmt.Sprint(n)) {
			t.Fatalf("%s, %v", folder, err)
		}
	}
	set, err := recording.Read(os.DirFS(dir), "vendor")
	if err != nil || set.Len() != 1 {
		t.Fatalf("%v, %d recordings of one request", err, set.Len())
	}
	got, ok := set.Find(recording.Key{Probe: "base", Label: "ml-vallam", Repeat: 2, Mode: providers.ModeTool, Stream: true})
	if !ok || !reflect.DeepEqual(got, r) {
		t.Errorf("%+v\nwant %+v", got, r)
	}
	if len(got.Header) != 2 || got.Header.Get("X-Request-Id") != "r-1" {
		t.Errorf("headers %v", got.Header)
	}
}

func TestAnAnswerWithACredentialIsRefusedAndItsPlaceShown(t *testing.T) {
	for _, secret := range []string{
		"sk-abcdefghijklmnopqrstu", "sk-ant-api03-abcdefghijklmnop", "AIza" + strings.Repeat("x", 35), "eyJhbGciOiJI.eyJzdWIiOiIx.SflKxwRJSMeK",
		"-----BEGIN PRIVATE KEY-----", "https://h/v1?key=AbCdEfGh12345678", "token: " + strings.Repeat("0a", 20), `"api_key": "abcdefghij0123456789"`,
		"AKIA" + strings.Repeat("A", 16), "ghp_" + strings.Repeat("a", 36), `Authorization: Bearer abcdefghijklmnopqrstuvwxyz`,
	} {
		_, err := recording.Of(meta(), transcript(`{"error":"you sent `+secret+`"}`), nil, at)
		if !errors.Is(err, recording.ErrSecret) || !strings.Contains(err.Error(), "byte ") || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", secret, err)
		}
	}
	for _, harmless := range []string{`{"total_tokens":1234567}`, `{"id":"chatcmpl-9f8e7d6c5b4a39281706"}`, `"system_fingerprint":"fp_0123456789abcdef0123"`, `"task-force-of-the-twenty-first"`} {
		if _, err := recording.Of(meta(), transcript(harmless), nil, at); err != nil {
			t.Errorf("%s: %v", harmless, err)
		}
	}
}

func TestPersonalDataThatTheQuestionDoesNotHoldIsMadeUnreadable(t *testing.T) {
	body := `{"a":"anna@example.org","b":"ops@vendor.example.com","c":"4111 1111 1111 1111","d":"1234567890123"}`
	r, err := recording.Of(meta(), transcript(body), []byte("write to anna@example.org"), at)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"a":"anna@example.org","b":"xxx@xxxxxx.xxxxxxx.xxx","c":"0000 0000 0000 0000","d":"1234567890123"}`; string(r.Body) != want || !r.Redacted {
		t.Errorf("%s, redacted %v", r.Body, r.Redacted)
	}
}

// stored writes one good recording and lets change spoil its files.
func stored(t *testing.T, change func(dir string)) error {
	t.Helper()
	r, err := recording.Of(meta(), transcript("data: 1\n\n"), nil, at)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	folder, err := recording.Write(dir, r)
	if err != nil {
		t.Fatal(err)
	}
	change(folder)
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	_, err = recording.Read(root.FS(), "vendor")
	return err
}

func TestARecordingThatCannotBeIsRefused(t *testing.T) {
	replace := func(name, old, with string) func(string) {
		return func(dir string) {
			file := filepath.Join(dir, name)
			data, err := os.ReadFile(file)
			if err != nil || !bytes.Contains(data, []byte(old)) {
				t.Fatalf("%v: %s holds no %q:\n%s", err, name, old, data)
			}
			if err := os.WriteFile(file, bytes.Replace(data, []byte(old), []byte(with), 1), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, c := range map[string]struct {
		change func(string)
		want   string
	}{
		"as it was":               {func(string) {}, ""},
		"G18 a header with a key": {replace("response.headers.json", `"X-Request-Id"`, `"AUTHORIZATION"`), "not on the list"},
		"G18 a cookie":            {replace("response.headers.json", `"X-Request-Id"`, `"set-cookie"`), "not on the list"},
		"G19 a key in the body": {func(d string) {
			_ = os.WriteFile(filepath.Join(d, "response.sse"), []byte("sk-abcdefghijklmnopqrstuvwx"), 0o600)
		}, "chunks hold"},
		"G23 a negative offset":   {replace("chunks.jsonl", `"offset":0`, `"offset":-1`), "does not begin"},
		"G23 chunks that overlap": {replace("chunks.jsonl", `"offset":4`, `"offset":3`), "does not begin"},
		"G23 past the end":        {replace("chunks.jsonl", `"length":5`, `"length":6`), "goes past"},
		"G23 ten million lines": {func(d string) {
			_ = os.WriteFile(filepath.Join(d, "chunks.jsonl"), bytes.Repeat([]byte("\n"), 17<<20), 0o600)
		}, "more than"},
		"G24 a time of 10^12":       {replace("chunks.jsonl", `"t_ms":40`, `"t_ms":1000000000000`), "not within"},
		"G24 time goes back":        {replace("chunks.jsonl", `"t_ms":40`, `"t_ms":1`), "comes before"},
		"G25 status 99":             {replace("meta.json", `"status": 200`, `"status": 99`), "status 99"},
		"G25 a header with a break": {replace("response.headers.json", `"X-Request-Id"`, `"X-Request-Id\r\nX"`), "is none"},
		"G25 a value with a break":  {replace("response.headers.json", `"r-1"`, `"r\r\nX: 1"`), "control character"},
		"G25 the body is missing":   {func(d string) { _ = os.Remove(filepath.Join(d, "response.sse")) }, "no such file"},
		"an unknown field":          {replace("meta.json", `"status"`, `"statuss"`), "unknown field"},
		"a field twice":             {replace("meta.json", `"status": 200`, `"status": 200, "status": 200`), "meta.json"},
		"another version":           {replace("meta.json", `"version": 1`, `"version": 2`), "version 2"},
		"another case":              {replace("meta.json", `"case": "ml-vallam"`, `"case": "../../x"`), "not those of its folder"},
		"G11 a link out of it":      {func(d string) { link(t, d, "response.sse", "/etc/passwd") }, "response.sse"},
		"G11 a link up and out":     {func(d string) { link(t, d, "meta.json", "../../../../../../etc/hostname") }, "meta.json"},
		"a folder in place of a file": {func(d string) {
			_ = os.Remove(filepath.Join(d, "response.sse"))
			_ = os.Mkdir(filepath.Join(d, "response.sse"), 0o700)
		}, "no regular file"},
	} {
		t.Run(name, func(t *testing.T) {
			err := stored(t, c.change)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if err != nil && strings.Contains(err.Error(), "root:") {
				t.Errorf("it shows what lies outside: %v", err)
			}
		})
	}
}

func link(t *testing.T, dir, name, to string) {
	t.Helper()
	_ = os.Remove(filepath.Join(dir, name))
	if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

func TestNamesOfProfilesLeadNowhere(t *testing.T) {
	for _, name := range []string{"../x", "/etc", "a/b", "", ".", "A"} {
		if _, err := recording.Read(os.DirFS(t.TempDir()), name); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: %v", name, err)
		}
	}
	bad := meta()
	bad.Case = "../../x"
	if _, err := recording.Of(bad, transcript("data: 1\n\n"), nil, at); err == nil {
		t.Error("a case that leads out of the folder was taken")
	}
}
