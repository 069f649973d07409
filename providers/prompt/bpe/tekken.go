package bpe

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// errFound ends a look through a file early.
var errFound = errors.New("found")

// isTekken reports whether data is a tekken file: one with its pattern under
// config, where a tokenizer.json has a model.
func isTekken(data []byte) bool {
	s, tekken := &scanner{data: data}, false
	_ = s.object(func(key string) error {
		tekken = key == "config"
		if tekken || key == "model" {
			return errFound
		}
		_, err := s.value()
		return err
	})
	return tekken
}

// oldControl is the special tokens of the files that do not list theirs
// (Tekkenizer.DEPRECATED_SPECIAL_TOKENS of mistral-common), by id.
var oldControl = strings.Fields(`<unk> <s> </s> [INST] [/INST] [AVAILABLE_TOOLS] [/AVAILABLE_TOOLS] [TOOL_RESULTS] [/TOOL_RESULTS] [TOOL_CALLS] [IMG] <pad>
	[IMG_BREAK] [IMG_END] [PREFIX] [MIDDLE] [SUFFIX] [SYSTEM_PROMPT] [/SYSTEM_PROMPT] [TOOL_CONTENT]`)

// parseTekken reads a tekken file. Ids below the number of special tokens are
// theirs; a rank and that number make the id of any other token. The tokens
// stand in vocab, or in the compact bpe_ranks, which is lines of "! RANK TOKEN
// TOKEN ..." with ranks counting up.
func parseTekken(data []byte) (*Tokenizer, error) {
	var file struct {
		Config struct {
			Pattern  string
			Size     int32 `json:"default_vocab_size"`
			Specials int32 `json:"default_num_special_tokens"`
		}
		Vocab []struct {
			Rank       int32
			TokenBytes string `json:"token_bytes"`
		}
		Ranks         string `json:"bpe_ranks"`
		SpecialTokens []struct {
			Rank     int
			TokenStr string `json:"token_str"`
		} `json:"special_tokens"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, err
	}
	specials := file.Config.Specials
	if specials < 0 || specials > 1<<16 || file.Config.Pattern == "" {
		return nil, errors.New("config: pattern is missing, or default_num_special_tokens is out of range")
	}
	inner := file.Config.Size - specials // what is above is not part of the model
	ranks := &rankTable{tokens: map[string]int32{}, offset: specials}
	for _, token := range file.Vocab {
		if token.Rank < inner {
			if err := ranks.add(token.TokenBytes, token.Rank); err != nil {
				return nil, err
			}
		}
	}
	if err := compactRanks(file.Ranks, inner, ranks); err != nil {
		return nil, err
	}
	var added []Added
	for _, token := range file.SpecialTokens {
		added = append(added, Added{ID: token.Rank, Content: token.TokenStr, Special: true})
	}
	if file.SpecialTokens == nil {
		for id, content := range oldControl[:min(len(oldControl), int(specials))] {
			added = append(added, Added{ID: id, Content: content, Special: true})
		}
	}
	for id := len(added); id < int(specials); id++ {
		added = append(added, Added{ID: id, Content: fmt.Sprintf("<SPECIAL_%d>", id), Special: true})
	}
	return ranks.build(file.Config.Pattern, added)
}

func compactRanks(text string, inner int32, ranks *rankTable) error {
	for _, line := range strings.Split(text, "\n") {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		if fields[0] != "!" || len(fields) < 2 {
			return errors.New("bpe_ranks: a line does not begin with ! and a rank")
		}
		first, err := strconv.ParseInt(fields[1], 10, 32)
		if err != nil || first < 0 || first > maxID {
			return errors.New("bpe_ranks: a line does not begin with ! and a rank")
		}
		for i, token := range fields[2:] {
			if rank := int32(first) + int32(i); rank < inner {
				if err := ranks.add(token, rank); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
