package call

import (
	"compress/flate"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/sse"
)

// Bounds of an answer. One that passes them is finished but unusable.
const (
	maxBody   = 8 << 20 // bytes, after decompression
	maxRatio  = 100     // bytes after decompression for one before, once there are more than ratioFrom
	ratioFrom = 64 << 10
)

// Words of Transcript.Limit.
const (
	limitOversize = "oversize"
	limitEncoding = "encoding"
)

// buffers are what bodies are read into on their way to a transcript.
var buffers = sync.Pool{New: func() any { return new([bufferSize]byte) }}

const bufferSize = 32 << 10

// read keeps the body of response with the time of each chunk and how it ended.
func read(ctx context.Context, response *http.Response, t *providers.Transcript, started time.Time, arrived func(providers.Transcript)) {
	defer func() { _ = response.Body.Close() }()
	wire := &counted{from: response.Body}
	var body io.Reader = wire
	switch encoding := strings.ToLower(strings.TrimSpace(strings.Join(response.Header.Values("Content-Encoding"), ","))); encoding {
	case "", "identity":
	case "gzip", "x-gzip":
		body = &unzipped{from: wire}
	default:
		t.Limit, t.End = limitEncoding, providers.EndEOF
		return
	}
	events := sse.Parser{Lend: true}
	isStream := strings.HasPrefix(strings.ToLower(response.Header.Get("Content-Type")), "text/event-stream")
	lent := buffers.Get().(*[bufferSize]byte)
	defer buffers.Put(lent)
	buffer := lent[:]
	for {
		n, err := body.Read(buffer)
		if n > 0 {
			t.Chunks = append(t.Chunks, providers.Chunk{Offset: len(t.Body), Length: n, At: time.Since(started)})
			t.Body = append(t.Body, buffer[:n]...)
			if arrived != nil {
				arrived(*t)
			}
		}
		if len(t.Body) > maxBody || body != io.Reader(wire) && len(t.Body) > ratioFrom && int64(len(t.Body)) > maxRatio*wire.n {
			t.Limit, t.End = limitOversize, providers.EndEOF
			return
		}
		if isStream && n > 0 && errors.Is(events.Feed(buffer[:n], func(sse.Event) {}), sse.ErrTooLong) {
			t.Limit, t.End = limitOversize, providers.EndEOF
			return
		}
		if err != nil {
			t.End, t.Limit = endOf(ctx, err)
			if !errors.Is(err, io.EOF) {
				t.Err = err
			}
			return
		}
	}
}

// endOf tells how a body ended. A body that is not what its encoding says is
// complete and unusable; one that was cut is not complete.
func endOf(ctx context.Context, err error) (end providers.End, limit string) {
	switch {
	case errors.Is(err, errNotGzip):
		return providers.EndEOF, limitEncoding
	case errors.Is(err, io.EOF):
		return providers.EndEOF, ""
	case ctx.Err() != nil:
		return providers.EndStall, ""
	case errors.Is(err, syscall.ECONNRESET):
		return providers.EndReset, ""
	default:
		return providers.EndUnterminated, ""
	}
}

// counted counts the bytes that came over the wire, and knows whether they came
// whole.
type counted struct {
	from  io.Reader
	n     int64
	whole bool // the framing said that this was the end
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.from.Read(b)
	c.n += int64(n)
	c.whole = c.whole || errors.Is(err, io.EOF)
	return n, err
}

// errNotGzip is a body that claims to be gzip and is not, although it is whole.
var errNotGzip = errors.New("the body is not what Content-Encoding says")

// unzipped decompresses; it opens the stream at the first read, so that headers
// are known before the first byte of the body is.
type unzipped struct {
	from *counted
	zip  *gzip.Reader
}

func (u *unzipped) Read(b []byte) (int, error) {
	if u.zip == nil {
		zip, err := gzip.NewReader(u.from)
		if err != nil {
			return 0, u.classify(err)
		}
		u.zip = zip
	}
	n, err := u.zip.Read(b)
	return n, u.classify(err)
}

// classify tells a body that is not what it claims to be from one that was cut on
// the way: the framing of the answer knows.
func (u *unzipped) classify(err error) error {
	if err == nil || errors.Is(err, io.EOF) && u.zip != nil {
		return err
	}
	_, corrupt := errors.AsType[flate.CorruptInputError](err)
	if u.from.whole || corrupt || errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) {
		return errNotGzip
	}
	if errors.Is(err, io.EOF) { // nothing at all where a stream was promised
		return io.ErrUnexpectedEOF
	}
	return err
}
