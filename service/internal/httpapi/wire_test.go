package httpapi_test

import (
	"fmt"
	"strings"
	"testing"
)

// good is a complete good request with further header lines.
func good(lines ...string) string {
	return post(owner{key: "KEY"}, goodBody("wire"), append([]string{"Idempotency-Key: wire"}, lines...)...)
}

// framed is a good submit whose framing lines the row brings itself.
func framed(rest string) string {
	return "POST /v1/jobs HTTP/1.1\r\nHost: interlock.test\r\nAuthorization: Bearer KEY\r\nContent-Type: application/json\r\nIdempotency-Key: wire\r\n" + rest
}

func chunk(s string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(s), s) }

// wireRows are the rows A01 to A45 that are a matter of one connection; those
// about slowness and many connections stand below.
func wireRows() []row {
	body := goodBody("wire")
	lengthed := fmt.Sprintf("Content-Length: %d\r\n", len(body))
	malformed := []string{"400 request-malformed"}
	smuggled := "GET /v1/jobs/0190a000-0000-7000-8000-000000000000 HTTP/1.1\r\nHost: interlock.test\r\n\r\n"
	get := func(target string) string {
		return "GET " + target + " HTTP/1.1\r\nHost: interlock.test\r\nAuthorization: Bearer KEY\r\n\r\n"
	}
	return []row{
		{id: "A01", name: "no Host", raw: strings.Replace(good(), "Host: interlock.test\r\n", "", 1), want: malformed, closed: true, key: "wire"},
		{id: "A02", name: "two Host lines", raw: strings.Replace(good(), "Host: interlock.test\r\n", "Host: a\r\nHost: b\r\n", 1), want: malformed, closed: true, key: "wire"},
		{id: "A03", name: "Host with a blank", raw: strings.Replace(good(), "interlock.test", "x y", 1), want: malformed, closed: true, key: "wire"},
		{id: "A04", name: "foreign Host", raw: strings.Replace(good(), "interlock.test", "evil.example", 1), want: []string{"201"}, jobs: 1},
		{id: "A05", name: "absolute form", raw: strings.Replace(good(), "POST /v1/jobs", "POST http://evil.example/v1/jobs", 1), want: []string{"201"}, jobs: 1},
		{id: "A06", name: "two lengths, different", raw: framed(lengthed+"Content-Length: 3\r\n\r\n") + body, want: malformed, closed: true, key: "wire"},
		{id: "A07", name: "two lengths, equal", raw: framed(lengthed+lengthed+"\r\n") + body, want: []string{"201"}, jobs: 1},
		{id: "A08", name: "length and chunks", closed: true, want: []string{"201"}, jobs: 1,
			raw: framed("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n") + chunk(body) + "0\r\n\r\n" + smuggled},
		{id: "A08", name: "chunks and a longer length", closed: true, want: []string{"201"}, jobs: 1,
			raw: framed("Transfer-Encoding: chunked\r\nContent-Length: 10000\r\n\r\n") + chunk(body) + "0\r\n\r\n" + smuggled},
		{id: "A09", name: "length -1", raw: framed("Content-Length: -1\r\n\r\n") + body, want: malformed, closed: true, key: "wire"},
		{id: "A09", name: "length +2", raw: framed("Content-Length: +2\r\n\r\n") + "{}", want: malformed, closed: true, key: "wire"},
		{id: "A09", name: "length 0x2", raw: framed("Content-Length: 0x2\r\n\r\n") + "{}", want: malformed, closed: true, key: "wire"},
		{id: "A09", name: "length 2 2", raw: framed("Content-Length: 2 2\r\n\r\n") + "{}", want: malformed, closed: true, key: "wire"},
		{id: "A09", name: "length of 20 digits", raw: framed("Content-Length: 99999999999999999999\r\n\r\n") + "{}", want: malformed, closed: true, key: "wire"},
		{id: "A10", name: "gzip, chunked", raw: framed("Transfer-Encoding: gzip, chunked\r\n\r\n") + chunk(body) + "0\r\n\r\n",
			want: []string{"501 transfer-encoding-unsupported"}, closed: true, key: "wire"},
		{id: "A11", name: "CR before chunked", raw: framed("Transfer-Encoding: \rchunked\r\n\r\n") + chunk(body) + "0\r\n\r\n", want: malformed, closed: true, key: "wire"},
		{id: "A12", name: "bare LF after a chunk size", raw: framed("Transfer-Encoding: chunked\r\n\r\n") + fmt.Sprintf("%x\n%s\r\n0\r\n\r\n", len(body), body),
			want: []string{"400 body-unreadable"}, closed: true, key: "wire"},
		{id: "A13", name: "chunk size of 17 digits", raw: framed("Transfer-Encoding: chunked\r\n\r\n") + "fffffffffffffffff\r\n" + body + "\r\n0\r\n\r\n",
			want: []string{"400 body-unreadable"}, closed: true, key: "wire"},
		{id: "A14", name: "no last chunk", raw: framed("Transfer-Encoding: chunked\r\n\r\n") + chunk(body), half: true,
			want: []string{"400 body-unreadable"}, closed: true, key: "wire"},
		{id: "A15", name: "short body that is valid JSON", raw: framed(fmt.Sprintf("Content-Length: %d\r\n\r\n", len(body)+90)) + body + "   ", half: true,
			want: []string{"400 body-unreadable"}, closed: true, key: "wire"},
		{id: "A16", name: "1 MiB + 1 with a length", raw: framed("Content-Length: 1048577\r\n\r\n"), want: []string{"413 body-too-large"}, closed: true, key: "wire"},
		{id: "A17", name: "1 MiB + 1 in chunks", raw: framed("Transfer-Encoding: chunked\r\n\r\n") + chunk(strings.Repeat(" ", 1<<20)) + chunk(" ") + "0\r\n\r\n",
			want: []string{"413 body-too-large"}, closed: true, key: "wire"},
		{id: "A18", name: "100-continue and 2 MiB", raw: framed("Expect: 100-continue\r\nContent-Length: 2097152\r\n\r\n"),
			want: []string{"413 body-too-large"}, closed: true, key: "wire"}, // a 100 would be an answer of its own
		{id: "A19", name: "Expect 200-ok", raw: good("Expect: 200-ok"), want: []string{"417 expectation-failed"}, closed: true, key: "wire"},
		{id: "A20", name: "gzip body", raw: good("Content-Encoding: gzip"), want: []string{"415 media-type-unsupported"}, closed: true, key: "wire"},
		{id: "A21", name: "headers of 24 KiB", raw: good("X-A: " + strings.Repeat("a", 24<<10)), want: []string{"431 headers-too-large"}, closed: true, key: "wire"},
		{id: "A21", name: "headers of 17 KiB", raw: good("X-A: " + strings.Repeat("a", 17<<10)), want: []string{"431 headers-too-large"}, closed: true, key: "wire"},
		{id: "A22", name: "1,000 header lines", raw: good(slicesRepeat("X-A: 1", 1000)...), want: []string{"431 headers-too-large"}, closed: true, key: "wire"},
		{id: "A22", name: "101 header lines", raw: good(slicesRepeat("X-A: 1", 96)...), want: []string{"431 headers-too-large"}, closed: true, key: "wire"},
		{id: "A22", name: "100 header lines are taken", raw: good(slicesRepeat("X-A: 1", 95)...), want: []string{"201"}, jobs: 1},
		{id: "A23", name: "target of 5 KiB", raw: strings.Replace(good(), "/v1/jobs", "/v1/jobs?a="+strings.Repeat("a", 5<<10), 1), want: []string{"414 target-too-long"}, closed: true, key: "wire"},
		{id: "A24", name: "blank before the colon", raw: strings.Replace(good(), "Idempotency-Key:", "Idempotency-Key :", 1), want: malformed, closed: true, key: "wire"},
		{id: "A25", name: "folded key", raw: strings.Replace(good(), "Idempotency-Key: wire", "Idempotency-Key: wi\r\n re", 1), want: []string{"400 idempotency-key-invalid"}, key: "wire"},
		{id: "A26", name: "NUL in a header", raw: good("X-A: a\x00b"), want: malformed, closed: true, key: "wire"},
		{id: "A26", name: "bare CR in a header", raw: good("X-A: a\rb"), want: malformed, closed: true, key: "wire"},
		{id: "A27", name: "lower-case method", raw: strings.Replace(good(), "POST", "post", 1), want: []string{"405 method-not-allowed"}, key: "wire"},
		{id: "A28", name: "PUT", raw: strings.Replace(good(), "POST", "PUT", 1), want: []string{"405 method-not-allowed"}, key: "wire"},
		{id: "A28", name: "DELETE of a job", raw: strings.Replace(get("/v1/jobs/0190a000-0000-7000-8000-000000000000"), "GET", "DELETE", 1), want: []string{"405 method-not-allowed"}},
		{id: "A28", name: "TRACE of a job", raw: strings.Replace(get("/v1/jobs/0190a000-0000-7000-8000-000000000000"), "GET", "TRACE", 1), want: []string{"405 method-not-allowed"}},
		{id: "A28", name: "CONNECT to a job", raw: strings.Replace(get("/v1/jobs/0190a000-0000-7000-8000-000000000000"), "GET", "CONNECT", 1), want: []string{"405 method-not-allowed"}},
		{id: "A28", name: "OPTIONS *", raw: "OPTIONS * HTTP/1.1\r\nHost: interlock.test\r\n\r\n", want: []string{"404 not-found"}},
		{id: "A29", name: "HTTP/1.0", raw: strings.Replace(good(), "HTTP/1.1", "HTTP/1.0", 1), want: []string{"201"}, closed: true, jobs: 1},
		{id: "A30", name: "HTTP/0.9", raw: "GET /v1/jobs\r\n\r\n", want: malformed, closed: true},
		{id: "A31", name: "HTTP/3.0", raw: strings.Replace(good(), "HTTP/1.1", "HTTP/3.0", 1), want: []string{"505 http-version-unsupported"}, closed: true, key: "wire"},
		{id: "A32", name: "HTTP/2 preface", raw: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00", want: malformed, closed: true},
		{id: "A32", name: "TLS hello", raw: "\x16\x03\x01\x00\x2e\x01\x00\x00\x2a\x03\x03" + strings.Repeat("r", 32) + "\x00\x00\x02\x13\x01\x01\x00\x00\x0a\x00\x04\x00\x02\x00\x1d\r\n\r\n", want: malformed, closed: true},
		{id: "A37", name: "pipelined, same key", raw: good() + good(), want: []string{"201", "200"}, jobs: 1},
		{id: "A38", name: "garbage after a good request", raw: good() + "\x01\x02garbage\r\n\r\n", want: []string{"201", "400 request-malformed"}, closed: true, jobs: 1},
		{id: "A39", name: "double slash", raw: strings.Replace(good(), "/v1/jobs", "//v1/jobs", 1), want: []string{"404 not-found"}, key: "wire"},
		{id: "A39", name: "dot segment", raw: strings.Replace(good(), "/v1/jobs", "/v1/./jobs", 1), want: []string{"404 not-found"}, key: "wire"},
		{id: "A39", name: "trailing slash", raw: strings.Replace(good(), "/v1/jobs", "/v1/jobs/", 1), want: []string{"404 not-found"}, key: "wire"},
		{id: "A40", name: "climbing path", raw: get("/v1/jobs/../../etc/passwd"), want: []string{"404 not-found"}},
		{id: "A41", name: "escaped dots", raw: get("/v1/jobs/%2e%2e%2fadmin"), want: []string{"400 id-invalid"}},
		{id: "A41", name: "escaped slash", raw: get("/v1/jobs/a%2Fb"), want: []string{"400 id-invalid"}},
		{id: "A41", name: "escaped NUL", raw: get("/v1/jobs/a%00b"), want: []string{"400 id-invalid"}},
		{id: "A41", name: "upper-case id", raw: get("/v1/jobs/0190A000-0000-7000-8000-000000000000"), want: []string{"400 id-invalid"}},
		{id: "A41", name: "id in braces", raw: get("/v1/jobs/%7B0190a000-0000-7000-8000-000000000000%7D"), want: []string{"400 id-invalid"}},
		{id: "A42", name: "broken escape", raw: get("/v1/jobs/%zz"), want: malformed, closed: true},
		{id: "A42", name: "blank in the path", raw: get("/v1/jobs/a b"), want: malformed, closed: true},
		{id: "A43", name: "forwarding headers", jobs: 1, want: []string{"201"},
			raw: good("X-Forwarded-For: 10.0.0.1", "X-Forwarded-Host: evil.example", "X-Original-URL: /v1/races", "X-Rewrite-URL: /v1/races", "X-HTTP-Method-Override: GET")},
		{id: "A44", name: "Connection names the key", raw: good("Connection: Idempotency-Key"), want: []string{"400 bad-connection-header"}, closed: true, key: "wire"},
		{id: "A44", name: "Connection names it behind close", raw: good("Connection: close, idempotency-key"), want: []string{"400 bad-connection-header"}, closed: true, key: "wire"},
		{id: "A45", name: "key as a trailer", want: []string{"400 idempotency-key-missing"}, closed: true, key: "wire",
			raw: strings.Replace(framed("Transfer-Encoding: chunked\r\nTrailer: Idempotency-Key\r\n\r\n"), "Idempotency-Key: wire\r\n", "", 1) +
				chunk(body) + "0\r\nIdempotency-Key: wire\r\n\r\n"},
	}
}

func slicesRepeat(s string, n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = s
	}
	return list
}

func TestWireRowsAreAnsweredAsListed(t *testing.T) {
	f := shared(t)
	for _, r := range wireRows() {
		t.Run(r.id+" "+r.name, func(t *testing.T) { r.run(t, f) })
	}
}
