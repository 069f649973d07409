package standin

import (
	"net/http"
	"time"

	"github.com/interlock-harness/interlock/providers"
)

// Recorded is an answer that was kept: it comes again byte for byte, in the pieces
// and after the gaps in which it came, and ends as it ended.
type Recorded struct {
	Status int // 0: no answer at all
	Header http.Header
	Body   []byte
	Chunks []providers.Chunk
	End    providers.End
}

// replay plays a recording. Its times count from now on.
func (p *player) replay(r *Recorded) {
	begun := time.Now()
	if r.Status == 0 || r.End == providers.EndNone {
		p.ends(r.End)
		return
	}
	header := p.w.Header()
	for name, values := range r.Header {
		header[name] = values
	}
	p.whole = len(r.Body)
	p.status = r.Status
	p.w.WriteHeader(r.Status)
	for _, c := range r.Chunks {
		if !p.sleep(c.At - time.Since(begun)) {
			return
		}
		if r.End == providers.EndEOF && c.Offset+c.Length == len(r.Body) {
			p.last(true)
		}
		n, err := p.w.Write(r.Body[c.Offset : c.Offset+c.Length])
		p.sent += n
		if err != nil {
			p.left = true
			return
		}
		if !p.flush() {
			return
		}
	}
	if r.End == providers.EndEOF {
		p.complete = p.flush()
		return
	}
	if p.flush() {
		p.ends(r.End)
	}
}

// ends breaks the answer off.
func (p *player) ends(how providers.End) {
	switch how {
	case providers.EndReset:
		p.cut(CutReset)
	case providers.EndStall:
		p.cut(CutStall)
	default:
		p.cut(CutFIN)
	}
}
