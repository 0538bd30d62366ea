package stripesim

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// keepAttempts is how many delivery attempts the page can show.
const keepAttempts = 200

// Attempt is one delivery attempt as the page and /_sim/deliveries show it.
type Attempt struct {
	Time     time.Time `json:"time"`
	Event    string    `json:"event"`
	Type     string    `json:"type"`
	Object   string    `json:"object"`
	Endpoint string    `json:"endpoint"`
	URL      string    `json:"url"`
	Number   int       `json:"attempt"`
	Status   int       `json:"status"` // 0 when no answer came
	Error    string    `json:"error,omitempty"`
}

// target returns where a delivery goes and the secrets that sign it; an empty URL
// means the endpoint is gone or disabled, which ends its retries.
func (d *dispatcher) target(one *delivery) (url string, secrets []string) {
	if one.endpoint == configEndpoint {
		return d.srv.cfg.WebhookURL, []string{d.srv.cfg.WebhookSecret}
	}
	one.acct.mu.Lock()
	defer one.acct.mu.Unlock()
	h := one.acct.endpoints.get(one.endpoint)
	if h == nil || h.Sim.Deleted || h.Status != "enabled" {
		return "", nil
	}
	return h.URL, h.secrets(d.srv.clock.unix())
}

// try makes one attempt; any answer but 2xx is a failure and is tried again later.
func (d *dispatcher) try(one *delivery) {
	url, secrets := d.target(one)
	if url == "" {
		d.end(one, false)
		return
	}
	one.attempt++
	status, err := d.post(one, url, secrets)
	ok := err == nil && status >= 200 && status < 300
	d.remember(one, url, status, err)
	if one.done != nil {
		close(one.done)
		one.done = nil
	}
	switch {
	case one.last:
	case ok:
		d.end(one, true)
	case one.attempt >= d.srv.cfg.WebhookAttempts:
		d.srv.logger.Warn("webhook given up", "event", one.event.ID, "type", one.event.Type, "attempts", one.attempt)
		d.end(one, false)
	default:
		d.pushLater(one, d.backoff(one.attempt))
	}
}

// backoff doubles from the configured base up to a minute.
func (d *dispatcher) backoff(attempt int) time.Duration {
	wait := d.srv.cfg.WebhookBackoff << min(attempt-1, 16)
	return min(wait, time.Minute)
}

func (d *dispatcher) post(one *delivery, url string, secrets []string) (int, error) {
	body, err := json.MarshalIndent(one.event.wire(), "", "  ")
	if err != nil {
		return 0, fmt.Errorf("rendering event %s: %w", one.event.ID, err)
	}
	ctx, cancel := context.WithTimeout(d.srv.running, d.srv.cfg.WebhookTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return 0, fmt.Errorf("making the request to %s: %w", url, err)
	}
	req.Header.Set("Content-Type", "application/json; charset=utf-8")
	req.Header.Set("User-Agent", "Stripe/1.0 (+https://stripe.com/docs/webhooks)")
	req.Header.Set("Stripe-Signature", signatureHeader(body, secrets, d.srv.cfg.Now().Unix()))
	resp, err := d.srv.client.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10)) // lets the connection be used again
	return resp.StatusCode, nil
}

// end closes a delivery in the journal, so that a restart does not repeat it.
func (d *dispatcher) end(one *delivery, ok bool) {
	if ok {
		one.event.pending.Add(-1)
	}
	d.srv.save(outRecord{Account: one.acct.name, Delivery: &deliveryMark{Event: one.event.ID, Endpoint: one.endpoint, OK: ok}})
}

func (d *dispatcher) remember(one *delivery, url string, status int, err error) {
	a := Attempt{Time: d.srv.clock.now(), Event: one.event.ID, Type: one.event.Type, Object: one.event.about.id(),
		Endpoint: one.endpoint, URL: url, Number: one.attempt, Status: status}
	if err != nil {
		a.Error = err.Error()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.recent = append(d.recent, a)
	if len(d.recent) >= 2*keepAttempts {
		d.recent = append([]Attempt(nil), d.recent[len(d.recent)-keepAttempts:]...)
	}
}

// attempts returns the newest attempts, newest first.
func (d *dispatcher) attempts(limit int) []Attempt {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := []Attempt{}
	for i := len(d.recent) - 1; i >= 0 && len(out) < limit; i-- {
		out = append(out, d.recent[i])
	}
	return out
}
