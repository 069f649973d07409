package judge_test

import (
	"encoding/json"
	"io/fs"
	"strconv"
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
	report(b, processor()-begin, t.Body)
}

// TestDepthCostsNoAllocations: judging an answer whose lists are nested takes no
// more allocations than one in which as many stand side by side.
func TestDepthCostsNoAllocations(t *testing.T) {
	c := invoice(t)
	allocations := func(depth int) float64 {
		answered := answer{protocol: providers.OpenAIChat, body: whole(providers.OpenAIChat, nested(depth), "stop"), max: 800}.transcript()
		return testing.AllocsPerRun(100, func() { judgeTranscript(c, answered) })
	}
	flat := allocations(1)
	for _, depth := range []int{15, 30, 60} {
		if deep := allocations(depth); deep > flat+4 { // a collection in between empties pools
			t.Errorf("%v allocations flat, %v at a depth of %d", flat, deep, depth)
		}
	}
}

// BenchmarkJudgeDepth is the time and memory of the same.
func BenchmarkJudgeDepth(b *testing.B) {
	c := invoice(b)
	for _, depth := range []int{1, 15, 30, 60} {
		b.Run(strconv.Itoa(depth), func(b *testing.B) {
			t := answer{protocol: providers.OpenAIChat, body: whole(providers.OpenAIChat, nested(depth), "stop"), max: 800, temperature: "0"}.transcript()
			b.ReportAllocs()
			for b.Loop() {
				if j := judgeTranscript(c, t); j.Verdict != providers.Reject {
					b.Fatalf("%+v", j)
				}
			}
		})
	}
}

// nested is the invoice with a key too many, under which 60 lists stand, of which
// depth are inside one another.
func nested(depth int) string {
	deep := strings.Repeat("[", depth) + strings.Repeat("]", depth)
	return strings.TrimSuffix(invoiceText, "}") + `,"more":[` + deep + strings.Repeat(",[]", 60-depth) + `]}`
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
	report(b, processor()-begin, []byte(invoiceText))
}

// report gives the processor time of one judgement, and how many decodings of
// document by encoding/json it is worth on the same machine at the same time: the
// ratio stays where the machine is slow or shared.
func report(b *testing.B, used time.Duration, document []byte) {
	b.Helper()
	one := float64(used) / float64(b.N)
	b.ReportMetric(one/float64(time.Microsecond), "cpu-us/op")
	b.ReportMetric(one/decoding(b, document), "x-encoding/json")
}

// decoding is the processor time, in nanoseconds, in which encoding/json decodes a
// document into values.
func decoding(b *testing.B, document []byte) float64 {
	b.Helper()
	times := 1 + (4<<20)/len(document)
	begin := processor()
	for range times {
		var v any
		if err := json.Unmarshal(document, &v); err != nil {
			b.Fatal(err)
		}
	}
	return float64(processor()-begin) / float64(times)
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

// BenchmarkJudgeMegabyte: 1 MiB is to take at most 100 ms, whatever it holds. The
// ratio is to the decoding of 1 MiB of plain invoice lines.
func BenchmarkJudgeMegabyte(b *testing.B) {
	c := invoice(b)
	line := strings.TrimSuffix(strings.TrimPrefix(invoiceText, "{"), "}")
	lines := []byte("[" + strings.Repeat("{"+line+"},", (1<<20)/(len(line)+3)) + "null]")
	for name, a := range megabytes() {
		b.Run(strings.ReplaceAll(name, " ", "-"), func(b *testing.B) {
			t := a.transcript()
			begin := processor()
			for b.Loop() {
				judgeTranscript(c, t)
			}
			one := float64(processor()-begin) / float64(b.N)
			b.ReportMetric(one/float64(time.Millisecond), "cpu-ms/op")
			b.ReportMetric(one/decoding(b, lines), "x-encoding/json")
		})
	}
}
