package bpe_test

import (
	"os"
	"testing"

	"github.com/interlock-harness/interlock/providers/prompt/bpe"
	"github.com/interlock-harness/interlock/providers/prompt/fetch"
)

// BenchmarkParse loads the two largest vocabularies, from bytes that are in
// memory already.
func BenchmarkParse(b *testing.B) {
	for _, name := range []string{"gemma3", "gptoss"} {
		b.Run(name, func(b *testing.B) {
			file, err := fetch.Lookup("@lenml/tokenizer-"+name, "models/tokenizer.json")
			if err != nil {
				b.Skip(err)
			}
			data, err := os.ReadFile(file)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := bpe.Parse(data, name); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
