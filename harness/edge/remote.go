package edge

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// remote is a stand-alone Toxiproxy, driven by its control API. Our own
// proxies on it carry a random name and are deleted afterwards; proxies of
// others (those of toxiproxy.json) are not touched.
type remote struct {
	base    string
	host    string // where its proxies listen
	version string
	http    *http.Client
}

func newRemote(ctx context.Context, base string) (*remote, error) {
	u, err := parseRemote(base)
	if err != nil {
		return nil, err
	}
	base = u.String()
	r := &remote{base: strings.TrimRight(base, "/"), host: u.Hostname(), http: &http.Client{Transport: &http.Transport{}}}
	var v struct {
		Version string `json:"version"`
	}
	if err := r.call(ctx, http.MethodGet, "/version", nil, &v); err != nil {
		if op, ok := errors.AsType[*net.OpError](err); ok {
			err = op.Err
		}
		return nil, fmt.Errorf("no Toxiproxy answers at %s: %w; start it with toxiproxy.json, or name none to have one inside the process", base, err)
	}
	r.version = v.Version
	return r, nil
}

// CheckRemote says whether text has the form of the address of a Toxiproxy.
// Nobody is asked.
func CheckRemote(text string) error {
	_, err := parseRemote(text)
	return err
}

// parseRemote takes host:port for http.
func parseRemote(text string) (*url.URL, error) {
	whole := text
	if !strings.Contains(text, "://") {
		whole = "http://" + text
	}
	u, err := url.Parse(whole)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("the address of Toxiproxy must look like http://127.0.0.1:8474, not %q", text)
	}
	return u, nil
}

// open makes a proxy there, with its toxics set before anybody knows its
// address, between two small relays of ours that count. Toxiproxy must run on
// this machine.
func (r *remote) open(ctx context.Context, p *Proxy, list []Toxic) (err error) {
	for _, t := range list {
		if t.pipe != nil {
			return fmt.Errorf("toxic %s: %w", t.Type, ErrNotHere)
		}
	}
	back, err := newCountingRelay("", p.meter, inBack, func() string { return p.upstream })
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			back.close()
		}
	}()
	name := "interlock-" + strings.ToLower(rand.Text()[:10]) + "-" + p.Name
	var made struct {
		Listen string `json:"listen"`
	}
	body := map[string]any{"name": name, "listen": net.JoinHostPort(r.host, "0"), "upstream": back.addr, "enabled": true}
	if err = r.call(ctx, http.MethodPost, "/proxies", body, &made); err != nil {
		return err
	}
	drop := func(ctx context.Context) error {
		return r.call(ctx, http.MethodDelete, "/proxies/"+url.PathEscape(name), nil, nil)
	}
	for i, t := range list {
		path := "/proxies/" + url.PathEscape(name) + "/toxics"
		if err = r.call(ctx, http.MethodPost, path, json.RawMessage(t.json(fmt.Sprintf("%s-%d", t.Type, i))), nil); err != nil {
			return errors.Join(fmt.Errorf("toxic %s: %w", t.Type, err), drop(context.WithoutCancel(ctx)))
		}
	}
	_, port, err := net.SplitHostPort(made.Listen)
	if err != nil {
		return errors.Join(err, drop(context.WithoutCancel(ctx)))
	}
	front, err := newCountingRelay("", p.meter, inFront, func() string { return net.JoinHostPort(r.host, port) })
	if err != nil {
		return errors.Join(err, drop(context.WithoutCancel(ctx)))
	}
	p.addr = front.addr
	p.stop = func(ctx context.Context) error {
		front.close()
		err := drop(ctx)
		back.close()
		return err
	}
	return nil
}

// call makes one call to the control API. in is encoded as JSON, out decoded.
func (r *remote) call(ctx context.Context, method, path string, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, toControl)
	defer cancel()
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, r.base+path, body)
	if err != nil {
		return err
	}
	// Toxiproxy refuses browsers by their user agent.
	req.Header.Set("User-Agent", "interlock")
	resp, err := r.http.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return err
	}
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("%s %s: %s: %s", method, path, resp.Status, strings.TrimSpace(string(text)))
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(text, out)
}

func (r *remote) close() { r.http.CloseIdleConnections() }
