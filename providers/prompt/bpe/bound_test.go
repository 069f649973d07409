package bpe_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/providers/prompt/bpe"
	"github.com/interlock-harness/interlock/providers/prompt/onig"
)

// A long word must not take quadratic time. Time on a shared machine is no
// measure, so four times the text may take up to twelve times as long, where a
// quadratic merge takes sixteen times and far longer in all.
func TestALongWordTakesLinearTime(t *testing.T) {
	tokenizer := toy(t, "sentencepiece")
	took := func(kib int) time.Duration {
		text := strings.Repeat("the world in a there", kib<<10/20)
		best := time.Hour
		for range 3 {
			begin := time.Now()
			if _, err := tokenizer.Encode(text, bpe.Options{}); err != nil {
				t.Fatal(err)
			}
			best = min(best, time.Since(begin))
		}
		return best
	}
	short, long := took(256), took(1024)
	if long > 12*short && long > 4*time.Second {
		t.Errorf("256 KiB took %v, 1 MiB took %v", short, long)
	}
}

func TestAPatternThatBacktracksWithoutEndIsAnError(t *testing.T) {
	tokenizer, err := bpe.Parse([]byte(with(`"pre_tokenizer":{"type":"Split","pattern":{"Regex":"(a|aa)+$b"},"behavior":"Isolated","invert":false},`)), "file")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tokenizer.Encode(strings.Repeat("a", 1000), bpe.Options{}); !errors.Is(err, onig.ErrTooHard) {
		t.Errorf("error %v, want ErrTooHard", err)
	}
}

func TestAFileThatBlowsTextUpIsAnError(t *testing.T) {
	double := `{"type":"Replace","pattern":{"String":"a"},"content":"aa"}`
	letters := `{"type":"ByteLevel","use_regex":false}`
	for name, part := range map[string]string{
		"normalizers":    `"normalizer":{"type":"Sequence","normalizers":[` + strings.Repeat(double+",", 59) + double + `]},`,
		"pre-tokenizers": `"pre_tokenizer":{"type":"Sequence","pretokenizers":[` + strings.Repeat(letters+",", 59) + letters + `]},`,
	} {
		tokenizer, err := bpe.Parse([]byte(with(part)), "file")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tokenizer.Encode("aé", bpe.Options{}); !errors.Is(err, onig.ErrTooHard) {
			t.Errorf("%s: error %v, want ErrTooHard", name, err)
		}
	}
	tokenizer, err := bpe.Parse([]byte(with(`"decoder":{"type":"Sequence","decoders":[`+strings.Repeat(double+",", 59)+double+`]},`)), "file")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tokenizer.Decode([]int{0}, false); !errors.Is(err, onig.ErrTooHard) {
		t.Errorf("decoders: error %v, want ErrTooHard", err)
	}
}

// fuzzTokenizers are small files of several styles.
func fuzzTokenizers(f *testing.F) []*bpe.Tokenizer {
	var all []*bpe.Tokenizer
	for _, golden := range toys(f) {
		tokenizer, err := bpe.Parse(golden.Tokenizer, golden.Name)
		if err != nil {
			f.Fatal(err)
		}
		all = append(all, tokenizer)
	}
	return all
}

// FuzzEncode: no text makes a tokenizer panic, and every id has a token.
func FuzzEncode(f *testing.F) {
	tokenizers := fuzzTokenizers(f)
	for _, text := range []string{"", "the world", "<|im_start|>é\u0301\xff", "▁▁  \n\n", "'ſ ﷺ \U0001F469‍🚀", strings.Repeat("\u0301", 40)} {
		f.Add(text, uint8(0), false)
	}
	f.Fuzz(func(t *testing.T, text string, which uint8, addSpecial bool) {
		if len(text) > 1<<14 {
			return
		}
		for i, tokenizer := range tokenizers {
			ids, err := tokenizer.Encode(text, bpe.Options{Added: bpe.Recognition(which % 3), AddSpecialTokens: addSpecial})
			if err != nil {
				t.Fatal(i, err)
			}
			for _, id := range ids {
				if _, ok := tokenizer.Token(id); !ok && !addSpecial {
					t.Fatalf("toy %d: id %d of %q has no token", i, id, text)
				}
			}
			if _, err := tokenizer.Decode(ids, addSpecial); err != nil {
				t.Fatal(i, err)
			}
		}
	})
}

// FuzzParse: no file makes Parse panic or work without bound, and one that
// loads encodes.
func FuzzParse(f *testing.F) {
	for _, golden := range toys(f)[:8] {
		f.Add([]byte(golden.Tokenizer), "the <s> world é")
	}
	f.Add([]byte(rankFile("ab")), "abc")
	f.Add([]byte(fmt.Sprintf(`{"config":{"pattern":"%s","default_vocab_size":300},"bpe_ranks":"! 0 AA== AQ=="}`, ".")), "abc")
	f.Add([]byte(with(`"pre_tokenizer":{"type":"Split","pattern":{"Regex":"(?i:'s)|\\p{L}+"},"behavior":"Isolated"},`)), "it's")
	f.Fuzz(func(t *testing.T, file []byte, text string) {
		if len(file) > 1<<16 || len(text) > 1<<10 {
			return
		}
		tokenizer, err := bpe.Parse(file, "cl100k")
		if err != nil {
			return
		}
		ids, err := tokenizer.Encode(text, bpe.Options{AddSpecialTokens: true})
		if err != nil {
			return
		}
		_, _ = tokenizer.Decode(ids, true)
	})
}
