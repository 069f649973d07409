package standin

import (
	"net/http"
	"slices"
	"strconv"
	"time"
)

// player writes one reply and keeps count of what left.
type player struct {
	w        http.ResponseWriter
	gone     <-chan struct{} // the client went away
	closing  <-chan struct{} // the server is being closed
	gates    []*Gate
	status   int
	sent     int
	whole    int // bytes of the whole body
	complete bool
	left     bool             // the client left first
	last     func(whole bool) // told once, before the last bytes leave
}

// play writes reply as script says. Every place where it may wait also ends
// when the client goes away or the server closes.
func (p *player) play(reply Reply, script Answer) {
	p.gone = script.gone(p.gone)
	stops := p.stops(reply, script)
	if !p.reach(-1, &stops) || !p.sleep(script.Delay) {
		return
	}
	if script.Recorded != nil {
		p.replay(script.Recorded)
		return
	}
	if script.Raw != nil {
		p.raw(script.Raw)
		return
	}
	var data []byte
	ends := make([]int, 0, len(reply.Pieces)) // where each piece ends
	for _, piece := range reply.Pieces {
		data = append(data, piece.bytes()...)
		ends = append(ends, len(data))
	}
	p.whole = len(data)
	header := p.w.Header()
	for name, values := range reply.Header {
		header[name] = values
	}
	switch {
	case script.CloseFramed:
		header.Set("Transfer-Encoding", "identity")
		header.Set("Connection", "close")
	case !reply.Stream && header.Get("Content-Length") == "":
		header.Set("Content-Length", strconv.Itoa(len(data)))
	}
	p.status = reply.Status
	p.w.WriteHeader(reply.Status)
	if reply.Stream || script.Cut != nil || len(stops) > 0 {
		if !p.flush() {
			return
		}
	}
	if !reply.Stream && script.Drip > 0 {
		ends = every(64, len(data))
	}
	for p.sent < len(data) {
		if !p.reach(p.sent, &stops) {
			return
		}
		end := ends[slices.IndexFunc(ends, func(e int) bool { return e > p.sent })]
		if len(stops) > 0 {
			end = min(end, max(stops[0].at, p.sent+1))
		}
		if !p.sleep(script.Drip) {
			return
		}
		if end == len(data) && script.Cut == nil {
			p.last(true)
		}
		n, err := p.w.Write(data[p.sent:end])
		p.sent += n
		if err != nil {
			p.left = true
			return
		}
		if (reply.Stream || script.Drip > 0 || len(stops) > 0) && !p.flush() {
			return
		}
	}
	if !p.reach(p.sent, &stops) {
		return
	}
	p.complete = p.flush()
}

// stop is a place where something happens: a gate is passed or the answer cut.
type stop struct {
	at   int
	gate *Gate
	cut  *Cut
}

// gone is closed when the client goes away, which nobody hears who is deaf.
func (s Answer) gone(gone <-chan struct{}) <-chan struct{} {
	if s.Deaf {
		return nil
	}
	return gone
}

func (p *player) stops(reply Reply, script Answer) []stop {
	var stops []stop
	for _, g := range p.gates {
		stops = append(stops, stop{at: g.at.offset(reply), gate: g})
	}
	if script.Cut != nil {
		stops = append(stops, stop{at: script.Cut.offset(reply), cut: &script.CutBy})
	}
	slices.SortStableFunc(stops, func(a, b stop) int { return a.at - b.at })
	return stops
}

// reach does all that is due at a place. It returns false when nothing more may
// be sent.
func (p *player) reach(at int, stops *[]stop) bool {
	for len(*stops) > 0 && (*stops)[0].at <= at {
		next := (*stops)[0]
		*stops = (*stops)[1:]
		if next.gate != nil {
			if !next.gate.pass(p.gone) {
				p.left = true
				return false
			}
			continue
		}
		p.cut(*next.cut)
		return false
	}
	return true
}

func (p *player) cut(how Cut) {
	p.last(p.sent > 0 && p.whole == p.sent)
	if how == CutStall {
		select {
		case <-p.gone:
			p.left = true
		case <-p.closing:
		}
		panic(http.ErrAbortHandler) // closes the connection without ending the body
	}
	conn, _, err := http.NewResponseController(p.w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if lingers, ok := conn.(interface{ SetLinger(sec int) error }); ok && how == CutReset {
		_ = lingers.SetLinger(0)
	}
	_ = conn.Close()
}

// raw sends bytes that need not be HTTP, then closes.
func (p *player) raw(data []byte) {
	conn, _, err := http.NewResponseController(p.w).Hijack()
	if err != nil {
		return
	}
	p.last(true)
	n, err := conn.Write(data)
	p.sent, p.complete = n, err == nil
	_ = conn.Close()
}

func (p *player) flush() bool {
	if http.NewResponseController(p.w).Flush() != nil {
		p.left = true
	}
	return !p.left
}

func (p *player) sleep(d time.Duration) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-p.gone:
		p.left = true
	case <-p.closing:
	}
	return false
}

func every(step, end int) []int {
	var ends []int
	for at := step; at < end; at += step {
		ends = append(ends, at)
	}
	return append(ends, end)
}
