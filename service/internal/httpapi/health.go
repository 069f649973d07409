package httpapi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"time"
)

// livez answers as long as the process serves at all. It asks nobody else: a
// restart would not mend a database.
func livez(_ *Server, c *call) error {
	return c.answer(http.StatusOK, map[string]string{"status": "alive"})
}

type readiness struct {
	Status string  `json:"status"`
	Checks []Check `json:"checks"`
}

// readyz answers whether this process should get requests now.
func readyz(s *Server, c *call) error {
	ctx, cancel := context.WithTimeout(c.r.Context(), 2*time.Second)
	defer cancel()
	r := readiness{Status: "ready", Checks: []Check{}}
	select {
	case <-s.draining:
		r.Checks = append(r.Checks, Check{Name: "drain", Detail: "the process is stopping"})
	default:
	}
	if s.ready != nil {
		r.Checks = append(r.Checks, s.ready(ctx)...)
	}
	for _, check := range r.Checks {
		if !check.OK {
			r.Status = "not ready"
			return c.answer(http.StatusServiceUnavailable, r)
		}
	}
	return c.answer(http.StatusOK, r)
}

func scrape(s *Server, c *call) error {
	if s.scrape == nil {
		return refuse(notFound, "")
	}
	_ = http.NewResponseController(c.w).SetWriteDeadline(time.Now().Add(s.limits.WriteTime))
	s.scrape.ServeHTTP(c.w, c.r)
	return nil
}

func openAPI(s *Server, c *call) error {
	c.write(http.StatusOK, "application/json", s.openAPI)
	return nil
}

// cachedByContent answers v under a tag of its own bytes, for lists, which have
// no version.
func (c *call) cachedByContent(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(text)
	return c.cached(`"`+hex.EncodeToString(sum[:12])+`"`, json.RawMessage(text))
}
