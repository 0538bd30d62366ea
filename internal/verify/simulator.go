package verify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Simulator is the local Stripe, which can be asked more than the real one.
type Simulator struct {
	URL     string // origin; empty when the provider is the real one
	Account string // what follows sk_test_ in the secret key
}

// simRequest is a request as the simulator remembers it.
type simRequest struct {
	N        uint64    `json:"n"`
	Time     time.Time `json:"time"`
	ID       string    `json:"request_id"`
	Method   string    `json:"method"`
	Endpoint string    `json:"endpoint"`
	Key      string    `json:"idempotency_key"`
	Object   string    `json:"object"` // id of what was answered with
}

// changes gives each every request that changed something, or meant to.
func (s Simulator) changes(ctx context.Context, since time.Time, each func(simRequest) error) error {
	if s.URL == "" {
		return nil
	}
	for after, more := uint64(0), true; more; {
		var page struct {
			Requests []simRequest `json:"requests"`
		}
		q := url.Values{"account": {s.Account}, "since": {strconv.FormatUint(after, 10)}, "limit": {strconv.Itoa(copyPage)}}
		if err := getJSON(ctx, s.URL+"/_sim/requests?"+q.Encode(), &page); err != nil {
			return fmt.Errorf("reading the simulator's requests: %w", err)
		}
		for _, r := range page.Requests {
			after = max(after, r.N)
			if !r.changesMoney() || r.Time.Before(since) {
				continue
			}
			if err := each(r); err != nil {
				return err
			}
		}
		more = len(page.Requests) == copyPage
	}
	return nil
}

// changesMoney leaves out what the shopper's browser sends without a key, such
// as the card itself.
func (r simRequest) changesMoney() bool {
	return r.Method == http.MethodPost && (r.Key != "" ||
		strings.Contains(r.Endpoint, "/v1/payment_intents") || strings.Contains(r.Endpoint, "/v1/refunds"))
}

// askTimeout is how long the simulator or the inbox may take for one page.
const askTimeout = 30 * time.Second

func getJSON(ctx context.Context, address string, into any) (err error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, resp.Body.Close()) }()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answered %s, expected 200 OK; is it the address of the right server?", address, resp.Status)
	}
	if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
		return fmt.Errorf("reading the answer of %s: %w", address, err)
	}
	return nil
}
