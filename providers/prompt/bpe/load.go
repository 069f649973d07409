package bpe

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
	"unicode/utf8"
)

// maxFile bounds the size of a tokenizer file. The largest known has 33 MB.
const maxFile = 256 << 20

// Load reads the tokenizer in file, whose kind is seen from its content: a
// tokenizer.json, a tekken file or a .tiktoken file. All callers in a process
// share one tokenizer for each content.
func Load(file string) (*Tokenizer, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("%s: the file has %d bytes, more than %d", file, info.Size(), maxFile)
	}
	path, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	loaded.Lock()
	defer loaded.Unlock()
	seen, ok := loaded.files[path]
	if ok && seen.size == info.Size() && seen.modified.Equal(info.ModTime()) {
		return loaded.digests[seen.digest], nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	digest := hex.EncodeToString(sum[:])
	t, ok := loaded.digests[digest]
	if !ok {
		if t, err = Parse(data, filepath.Base(file)); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		loaded.digests[digest] = t
	}
	loaded.files[path] = seenFile{info.Size(), info.ModTime(), digest}
	return t, nil
}

// loaded is the tokenizers of this process, by path and by digest.
var loaded = struct {
	sync.Mutex
	files   map[string]seenFile
	digests map[string]*Tokenizer
}{files: map[string]seenFile{}, digests: map[string]*Tokenizer{}}

type seenFile struct {
	size     int64
	modified time.Time
	digest   string
}

// Parse reads a tokenizer from data. name is that of its file; a .tiktoken file
// says nothing about its pattern, so there it decides which is meant.
func Parse(data []byte, name string) (*Tokenizer, error) {
	var t *Tokenizer
	var err error
	switch head := bytes.TrimLeft(data, " \t\r\n"); {
	case !utf8.Valid(data):
		err = errors.New("the file is not UTF-8 text, so it is no tokenizer")
	case len(head) == 0:
		err = errors.New("the file is empty")
	case head[0] != '{':
		t, err = parseTiktoken(data, name)
	case isTekken(data):
		t, err = parseTekken(data)
	default:
		t, err = parseTokenizerJSON(data)
	}
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	t.digest = hex.EncodeToString(sum[:])
	return t, nil
}
