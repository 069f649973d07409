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
		return seen.tokenizer, nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	t, err := shared(data, filepath.Base(file))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	loaded.files[path] = seenFile{info.Size(), info.ModTime(), t}
	return t, nil
}

// Shared is Parse for a content that is at hand already; as with Load, all
// callers share one tokenizer for each content.
func Shared(data []byte, name string) (*Tokenizer, error) {
	if len(data) > maxFile {
		return nil, fmt.Errorf("the file has %d bytes, more than %d", len(data), maxFile)
	}
	loaded.Lock()
	defer loaded.Unlock()
	return shared(data, name)
}

// shared is called with the lock held.
func shared(data []byte, name string) (*Tokenizer, error) {
	sum := sha256.Sum256(data)
	key := hex.EncodeToString(sum[:])
	if !bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("{")) {
		key += " " + name // decides the pattern: o200k_base and o200k_harmony have the same ranks
	}
	if t, ok := loaded.contents[key]; ok {
		return t, nil
	}
	t, err := Parse(data, name)
	if err == nil {
		loaded.contents[key] = t
	}
	return t, err
}

// loaded is the tokenizers of this process, by path and by content.
var loaded = struct {
	sync.Mutex
	files    map[string]seenFile
	contents map[string]*Tokenizer
}{files: map[string]seenFile{}, contents: map[string]*Tokenizer{}}

type seenFile struct {
	size      int64
	modified  time.Time
	tokenizer *Tokenizer
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
