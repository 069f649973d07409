package bpe_test

import (
	"errors"
	"os"
	"runtime"
	"testing"

	"github.com/interlock-harness/interlock/providers/prompt/bpe"
	"github.com/interlock-harness/interlock/providers/prompt/fetch"
)

// BenchmarkLoad reads and parses the two largest vocabularies. The promise: at
// most one second, and at most 200 MiB that stay.
func BenchmarkLoad(b *testing.B) {
	for _, name := range []string{"gemma3", "gptoss"} {
		b.Run(name, func(b *testing.B) {
			file, err := fetch.Lookup("@lenml/tokenizer-"+name, "models/tokenizer.json")
			if errors.Is(err, fetch.ErrAbsent) {
				b.Skip(err)
			}
			if err != nil {
				b.Fatal(err)
			}
			before, begin := heap(), processorTime()
			var kept *bpe.Tokenizer
			for b.Loop() {
				data, err := os.ReadFile(file)
				if err != nil {
					b.Fatal(err)
				}
				if kept, err = bpe.Parse(data, name); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric((processorTime()-begin).Seconds()/float64(b.N), "s/load") // of processor time
			b.ReportMetric(float64(heap()-before)/(1<<20), "MiB")
			runtime.KeepAlive(kept)
		})
	}
}

// heap is how many bytes are in use after a collection.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
