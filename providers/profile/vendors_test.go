package profile_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/call"
	"github.com/interlock-harness/interlock/providers/fixtures"
	"github.com/interlock-harness/interlock/providers/profile"
	"github.com/interlock-harness/interlock/providers/wire"
)

var update = flag.Bool("update", false, "write the golden requests of the vendors")

// TestVendorsAreAskedByteForByte sends one request of each kind over the public
// profile of each vendor and compares every byte that arrives with a golden.
func TestVendorsAreAskedByteForByte(t *testing.T) {
	vendors, err := profile.Vendors(fixtures.FS, "vendors")
	if err != nil {
		t.Fatal(err)
	}
	spoken := map[providers.Protocol]bool{}
	for _, name := range slices.Sorted(maps.Keys(vendors)) {
		spoken[vendors[name].Protocol] = true
		for _, mode := range []providers.Mode{providers.ModeJSONSchema, providers.ModeTool} {
			for _, stream := range []bool{false, true} {
				if stream && vendors[name].Protocol == providers.BedrockConverse {
					continue
				}
				form := map[bool]string{false: "whole", true: "stream"}[stream]
				t.Run(name+" "+string(mode)+" "+form, func(t *testing.T) {
					golden(t, filepath.Join("testdata", "vendors", name+"."+string(mode)+"."+form+".txt"), sent(t, vendors[name], mode, stream))
				})
			}
		}
	}
	for _, p := range wire.Protocols() {
		if !spoken[p] {
			t.Errorf("no vendor speaks %s", p)
		}
	}
}

// sent is what arrives at the address of a vendor.
func sent(t *testing.T, p providers.Profile, mode providers.Mode, stream bool) []byte {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	arrived := make(chan []byte, 1)
	go func() {
		defer close(arrived)
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer func() { _ = conn.Close() }()
		var raw bytes.Buffer
		r, err := http.ReadRequest(bufio.NewReader(io.TeeReader(conn, &raw)))
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		arrived <- raw.Bytes()
	}()
	temperature, most := json.Number("0"), int64(64)
	p.Model, p.AllowLoopback = "model-1", true
	address := p.BaseURL // only the host is another one
	_, rest, _ := strings.Cut(address, "://")
	_, path, _ := strings.Cut(rest, "/")
	p.BaseURL = strings.TrimSuffix("http://"+l.Addr().String()+"/"+path, "/")
	secret := ""
	if p.Auth.Header != "" {
		secret = "KEY-0123456789"
	}
	if _, err := call.Do(t.Context(), p, secret, providers.Request{
		System: "Answer with JSON.", User: "മലയാളം & <tags>", Mode: mode, Stream: stream, Schema: json.RawMessage(`{"type":"object","additionalProperties":false,"properties":{"a":{"type":"integer"}},"required":["a"]}`),
		SchemaName: "answer", ToolName: "submit", ToolDescription: "Submit it.", Temperature: &temperature, MaxOutputTokens: &most,
	}, http.Header{"X-Attempt-Id": {"attempt-1"}}); err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	data := <-arrived
	host, _, _ := strings.Cut(rest, "/")
	return bytes.ReplaceAll(bytes.ReplaceAll(data, []byte(l.Addr().String()), []byte(host)), []byte("\r\n"), []byte("\n"))
}

func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, append(got, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(bytes.TrimSuffix(want, []byte("\n")), got) {
		t.Errorf("sent\n%s\nwant\n%s", got, want)
	}
}

func TestAVendorNamesNoModel(t *testing.T) {
	files := fstest.MapFS{"v/a.yaml": {Data: []byte("name: a\nprotocol: openai-chat\nbase_url: https://a.example/v1\nmodel: m\n")}}
	if _, err := profile.Vendors(files, "v"); err == nil || !strings.Contains(err.Error(), "names no model") {
		t.Errorf("%v", err)
	}
	files = fstest.MapFS{"v/a.yaml": {Data: []byte("name: a\nprotocol: openai-chat\nbase_url: ftp://a.example\n")}}
	if _, err := profile.Vendors(files, "v"); err == nil {
		t.Error("an address that is none was taken")
	}
}
