package cli

import (
	"github.com/spf13/cobra"

	"github.com/interlock-harness/interlock/providers/prompt/bpe"
)

func promptTokenizeCommand(s *streams) *cobra.Command {
	var file string
	var o bpe.StreamOptions
	cmd := &cobra.Command{
		Use:   "tokenize --tokenizer FILE",
		Short: "texts to token ids, or back",
		Long: `Reads a JSON array of strings on standard input and writes a JSON array with an
array of token ids for each. With --decode it reads arrays of ids and writes
strings. FILE is a tokenizer.json, a tekken file or a .tiktoken file; its content
says which. Added tokens such as <|im_start|> in a text become their own ids
unless --no-special is given, which makes them plain text (or leaves special
tokens out when decoding).`,
		Example: `  echo '["A text."]' | interlock prompt tokenize --tokenizer tokenizer.json
  echo '[[32, 1495, 13]]' | interlock prompt tokenize --tokenizer tokenizer.json --decode`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			if file == "" {
				return usagef("name the tokenizer's file with --tokenizer")
			}
			if err := bpe.TokenizeStream(file, s.in, s.out, o); err != nil {
				return usagef("%v", err)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&file, "tokenizer", "", "the tokenizer's `FILE`")
	cmd.Flags().BoolVar(&o.Decode, "decode", false, "turn ids into text")
	cmd.Flags().BoolVar(&o.NoSpecial, "no-special", false, "treat added tokens in a text as text; leave special tokens out of decoded text")
	cmd.Flags().BoolVar(&o.AddSpecialTokens, "add-special", false, "put the special tokens of the tokenizer's post-processor around each text")
	return cmd
}
