package stripesim

// rateWindow counts the requests of one second.
type rateWindow struct {
	second int64
	n      int
}

// take counts a request and tells whether it is within limit.
func (w *rateWindow) take(now int64, limit int) bool {
	if w.second != now {
		w.second, w.n = now, 0
	}
	w.n++
	return w.n <= limit
}

// checkRate answers 429 to more reads or writes in a second than Config.RateLimit.
// It comes before the idempotency layer and says nothing about the key.
func (x *exchange) checkRate() *apiError {
	limit := x.srv.cfg.RateLimit
	if limit <= 0 {
		return nil
	}
	window := &x.acct.writes
	if x.ep.method == "GET" {
		window = &x.acct.reads
	}
	x.acct.mu.Lock()
	defer x.acct.mu.Unlock()
	if window.take(x.now, limit) {
		return nil
	}
	return rateLimited()
}

func rateLimited() *apiError {
	e := invalid("", "Request rate limit exceeded. Learn more about rate limits here https://stripe.com/docs/rate-limits.").withCode("rate_limit")
	e.status = 429
	return e
}
