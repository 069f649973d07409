package judge_test

import (
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/contract"
	"github.com/interlock-harness/interlock/providers/fixtures"
)

func invoice(t testing.TB) *contract.Contract {
	t.Helper()
	data, err := fs.ReadFile(fixtures.FS, "exchanges/_contract.json")
	if err != nil {
		t.Fatal(err)
	}
	c, err := contract.Parse("_contract.json", data)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const invoiceText = `{"invoice_id":"INV-2026-0417","currency":"EUR","issued_on":"2026-11-12","line_items":[{"sku":"PEN-BLU-01","qty":12,"unit_price_cents":120},{"sku":"PAD-A5-DOT","qty":3,"unit_price_cents":675},{"sku":"CABLE-2M","qty":1,"unit_price_cents":1100}],"total_cents":4565}`

// BenchmarkJudgeInvoice: a three-item invoice, body to verdict, is to take at most
// 60 us.
func BenchmarkJudgeInvoice(b *testing.B) {
	c := invoice(b)
	t := answer{protocol: providers.OpenAIChat, body: whole(providers.OpenAIChat, invoiceText, "stop"), max: 800, temperature: "0"}.transcript()
	b.ReportAllocs()
	begin := processor()
	for b.Loop() {
		if j := judgeTranscript(c, t); j.Verdict != providers.Accept {
			b.Fatalf("%+v", j)
		}
	}
	b.ReportMetric(float64((processor()-begin).Nanoseconds())/1000/float64(b.N), "cpu-us/op")
}

func BenchmarkJudgeInvoiceStream(b *testing.B) {
	c := invoice(b)
	var pieces []string
	for i := 0; i < len(invoiceText); i += 8 {
		pieces = append(pieces, invoiceText[i:min(i+8, len(invoiceText))])
	}
	list, _ := events(providers.OpenAIChat, "stop", pieces...)
	t := answer{protocol: providers.OpenAIChat, stream: true, body: strings.Join(list, "")}.transcript()
	b.ReportAllocs()
	begin := processor()
	for b.Loop() {
		if j := judgeTranscript(c, t); j.Verdict != providers.Accept {
			b.Fatalf("%+v", j)
		}
	}
	b.ReportMetric(float64((processor()-begin).Nanoseconds())/1000/float64(b.N), "cpu-us/op")
}

// processor is the time that this process has computed, collector included: what
// others do on the machine does not count.
func processor() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// megabytes are answers of 1 MiB that try to cost much.
func megabytes() map[string]answer {
	const size = 1 << 20
	fill := func(unit string) string { return strings.TrimSuffix(strings.Repeat(unit, size/len(unit)), ",") }
	chat := func(text string) answer {
		return answer{protocol: providers.OpenAIChat, body: whole(providers.OpenAIChat, text, "stop")}
	}
	item := `{"sku":"PEN-BLU-01","qty":12,"unit_price_cents":120},`
	items := func(list string, total int) string {
		return fmt.Sprintf(`{"invoice_id":"INV-2026-0417","currency":"EUR","issued_on":"2026-11-12","line_items":[%s],"total_cents":%d}`, list, total)
	}
	keys := func() string {
		var b strings.Builder
		for i := 0; b.Len() < size; i++ {
			fmt.Fprintf(&b, `"k%d":0,`, i)
		}
		return strings.TrimSuffix(b.String(), ",")
	}()
	var small strings.Builder
	for small.Len() < size {
		small.WriteString("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\" \"}}]}\n\n")
	}
	var parts, calls strings.Builder
	for i := 0; parts.Len() < size; i++ {
		fmt.Fprintf(&parts, "data: {\"type\":\"response.output_text.delta\",\"output_index\":%d,\"delta\":\"x\"}\n\n", i)
	}
	for i := 0; calls.Len() < size; i++ {
		fmt.Fprintf(&calls, `{"index":%d},`, i)
	}
	return map[string]answer{
		"many good lines":     chat(items(fill(item), (size/len(item))*1440)),
		"many bad lines":      chat(items(fill(`{"a":1},`), 1)),
		"many numbers":        chat(items(fill("1,"), 1)),
		"fractions":           chat(items(strings.ReplaceAll(fill(item), `"qty":12,`, `"qty":1.5e-300,`), 1)),
		"brackets":            chat(strings.Repeat("[", size)),
		"opened strings":      chat(fill(`"{[`)),
		"prose with brackets": chat(fill("a { b [ ")),
		"many keys":           chat("{" + keys + "}"),
		"many lines of items": chat(fill(`{"a":1}` + "\n")),
		"one long string":     chat(`{"invoice_id":"` + strings.Repeat("x", size) + `"}`),
		"escapes":             chat(strings.Repeat(`"\\u00e9`, size/8)),
		"halved characters":   {protocol: providers.OpenAIChat, body: `{"choices":[{"index":0,"finish_reason":"stop","message":{"content":"` + strings.Repeat(`\ud83d`, size/6) + `"}}]}`},
		"special tokens":      chat(strings.Repeat("<|x", size/3)),
		"markup":              chat(strings.Repeat("<think>", size/7)),
		"fences":              chat(strings.Repeat("```", size/3)),
		"a body of brackets":  {protocol: providers.OpenAIChat, body: strings.Repeat("[", size)},
		"a body of objects":   {protocol: providers.OpenAIChat, body: `{"choices":[` + fill(`{"index":1},`) + `]}`},
		"a list of errors":    {protocol: providers.Gemini, body: `[` + fill(`{"error":null},`) + `]`},
		"small events":        {protocol: providers.OpenAIChat, stream: true, body: small.String()},
		"blank lines":         {protocol: providers.OpenAIChat, stream: true, body: strings.Repeat("\n", size)},
		"comments":            {protocol: providers.OpenAIChat, stream: true, body: strings.Repeat(":\n", size/2)},
		"empty events":        {protocol: providers.OpenAIChat, stream: true, body: strings.Repeat("data\n\n", size/6)},
		"one event":           {protocol: providers.OpenAIChat, stream: true, body: strings.Repeat("data:1\n", size/7)},
		"parts":               {protocol: providers.OpenAIResponses, stream: true, body: parts.String()},
		"calls":               {protocol: providers.OpenAIChat, mode: providers.ModeTool, stream: true, body: `data: {"choices":[{"index":0,"delta":{"tool_calls":[` + strings.TrimSuffix(calls.String(), ",") + `]}}]}` + "\n\n"},
		"calls in a body":     {protocol: providers.Gemini, mode: providers.ModeTool, body: `{"candidates":[{"content":{"parts":[` + fill(`{"functionCall":{"name":"x"}},`) + `]},"finishReason":"STOP"}]}`},
		"arguments":           {protocol: providers.AnthropicMessages, mode: providers.ModeTool, body: calling(providers.AnthropicMessages, "tool_use", [2]string{"file_ticket", `{"a":[` + fill("[],") + `]}`})},
		"lines":               {protocol: providers.OllamaChat, stream: true, body: strings.Repeat("{}\n", size/3)},
	}
}

// TestAMegabyteIsJudgedQuickly allows far more than is asked of an idle machine,
// since tests share theirs; the benchmark below tells the real time.
func TestAMegabyteIsJudgedQuickly(t *testing.T) {
	const most = 4 * time.Second
	c := invoice(t)
	for name, a := range megabytes() {
		transcript := a.transcript()
		begin := time.Now()
		j := judgeTranscript(c, transcript)
		if took := time.Since(begin); took > most {
			t.Errorf("%s took %v: %s %s", name, took, j.Verdict, j.Reason)
		}
		if j.Verdict == providers.Accept {
			t.Errorf("%s is accepted", name)
		}
	}
}

// BenchmarkJudgeMegabyte: 1 MiB is to take at most 100 ms, whatever it holds.
func BenchmarkJudgeMegabyte(b *testing.B) {
	c := invoice(b)
	for name, a := range megabytes() {
		b.Run(strings.ReplaceAll(name, " ", "-"), func(b *testing.B) {
			t := a.transcript()
			begin := processor()
			for b.Loop() {
				judgeTranscript(c, t)
			}
			b.ReportMetric(float64((processor()-begin).Microseconds())/1000/float64(b.N), "cpu-ms/op")
		})
	}
}
