package edge

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxFrame bounds one message of PostgreSQL's protocol: a broken length must
// not make us allocate the world.
const maxFrame = 64 << 20

// Codes of the messages that come before the first typed one.
const (
	codeSSL    = 80877103
	codeGSS    = 80877104
	codeCancel = 80877102
)

// frame is one message: its type byte and its body without the length.
type frame struct {
	typ  byte // 0 for the untyped messages at the start of a connection
	body []byte
}

func readStartup(r *bufio.Reader) (frame, error) {
	body, err := readBody(r)
	return frame{body: body}, err
}

func readFrame(r *bufio.Reader) (frame, error) {
	typ, err := r.ReadByte()
	if err != nil {
		return frame{}, err
	}
	body, err := readBody(r)
	return frame{typ: typ, body: body}, err
}

func readBody(r *bufio.Reader) ([]byte, error) {
	var length [4]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return nil, err
	}
	n := int64(binary.BigEndian.Uint32(length[:])) - 4
	if n < 0 || n > maxFrame {
		return nil, fmt.Errorf("a message of %d bytes is none of PostgreSQL's", n)
	}
	body := make([]byte, n)
	_, err := io.ReadFull(r, body)
	return body, err
}

// write puts the frame into w; the caller flushes.
func (f frame) write(w *bufio.Writer) error {
	if f.typ != 0 {
		if err := w.WriteByte(f.typ); err != nil {
			return err
		}
	}
	var length [4]byte
	binary.BigEndian.PutUint32(length[:], uint32(len(f.body)+4))
	if _, err := w.Write(length[:]); err != nil {
		return err
	}
	_, err := w.Write(f.body)
	return err
}

// code is the request code of an untyped message.
func (f frame) code() uint32 {
	if len(f.body) < 4 {
		return 0
	}
	return binary.BigEndian.Uint32(f.body)
}

var errShort = errors.New("message too short")

// parse reads a Parse message: the statement's name and its SQL.
func (f frame) parse() (name, sql string, err error) {
	name, rest, ok := cstring(f.body)
	if !ok {
		return "", "", errShort
	}
	sql, _, ok = cstring(rest)
	if !ok {
		return "", "", errShort
	}
	return name, sql, nil
}

// bound is the name of the statement that a Bind message runs.
func (f frame) bound() string {
	_, rest, _ := cstring(f.body) // the portal
	name, _, _ := cstring(rest)
	return name
}

// query is the SQL of a Query message.
func (f frame) query() string {
	sql, _, _ := cstring(f.body)
	return sql
}

// tag is the tag of a CommandComplete message, such as "UPDATE 1".
func (f frame) tag() string {
	tag, _, _ := cstring(f.body)
	return tag
}

func cstring(b []byte) (s string, rest []byte, ok bool) {
	i := bytes.IndexByte(b, 0)
	if i < 0 {
		return "", nil, false
	}
	return string(b[:i]), b[i+1:], true
}

// keyword is the first word of a statement, in capitals, past comments.
func keyword(sql string) string {
	for {
		sql = strings.TrimLeft(sql, " \t\r\n;(")
		switch {
		case strings.HasPrefix(sql, "--"):
			_, sql, _ = strings.Cut(sql, "\n")
		case strings.HasPrefix(sql, "/*"):
			_, sql, _ = strings.Cut(sql, "*/")
		default:
			end := strings.IndexFunc(sql, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') })
			if end < 0 {
				end = len(sql)
			}
			return strings.ToUpper(sql[:end])
		}
	}
}

func isCommit(sql string) bool {
	word := keyword(sql)
	return word == "COMMIT" || word == "END"
}

// writes tells statements that change something from those that only read. A
// SELECT that locks or calls a function counts as reading.
func writes(sql string) bool {
	switch keyword(sql) {
	case "INSERT", "UPDATE", "DELETE", "MERGE", "WITH":
		return true
	}
	return false
}
