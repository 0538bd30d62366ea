package stripesim

import (
	"net/http"
	"strconv"
	"time"
)

// faultHit is a fault that befalls one request. A nil hit is no fault.
type faultHit struct {
	name  string
	delay time.Duration
}

func (h *faultHit) kind() string {
	if h == nil {
		return ""
	}
	return h.name
}

// sent is the status the client sees instead of status; 0 is a dead connection.
func (h *faultHit) sent(status int) int {
	switch h.kind() {
	case "drop_before", "drop_after":
		return 0
	case "html_502", "html_502_with_effect":
		return http.StatusBadGateway
	}
	return status
}

// before acts in front of the idempotency layer and tells whether that was all.
func (h *faultHit) before(x *exchange) bool {
	var e *apiError
	retry := ""
	switch h.kind() {
	case "slow":
		wait(x, h.delay)
	case "drop_before":
		x.note(answer{})
		panic(http.ErrAbortHandler)
	case "html_502":
		x.note(answer{status: http.StatusBadGateway})
		writeGatewayPage(x.w)
		return true
	case "rate_limit":
		e = rateLimited()
	case "conflict":
		e = keyInUse(x.key)
	case "unavailable":
		e = &apiError{status: 503, Type: typeAPI, Message: "Stripe is temporarily unavailable. Please try again."}
		retry = "true"
	case "unauthorized":
		e = unauthorized("Invalid API Key provided: sk_test_****. It was rolled.")
	}
	if e == nil {
		return false
	}
	ans := x.refusal(e)
	ans.retry = retry
	x.note(ans)
	x.write(ans)
	return true
}

// inside runs the endpoint, or what the fault makes of it, with the account locked.
func (h *faultHit) inside(x *exchange) (any, *apiError) {
	switch h.kind() {
	case "error_500_without_effect":
		return nil, internalError()
	case "error_500_with_effect":
		if _, err := x.run(); err != nil && !err.executed {
			return nil, err
		}
		return nil, internalError()
	case "slow_inside":
		id := x.lockID()
		released := make(chan struct{})
		x.acct.held[id] = released
		x.acct.mu.Unlock()
		wait(x, h.delay)
		x.acct.mu.Lock()
		delete(x.acct.held, id)
		close(released)
	}
	return x.run()
}

// after mangles an answer on its way out and tells whether it did.
func (h *faultHit) after(x *exchange, ans answer) bool {
	switch h.kind() {
	case "slow_after":
		wait(x, h.delay)
		return false
	case "drop_after":
		panic(http.ErrAbortHandler)
	case "html_502_with_effect":
		writeGatewayPage(x.w)
		return true
	case "broken_json":
		cut := len(ans.body) / 2
		ans.body = append(append([]byte(nil), ans.body[:cut]...), "}]<oops"...)
		x.write(ans)
		return true
	case "truncate":
		x.w.Header().Set("Content-Length", strconv.Itoa(len(ans.body)))
		ans.body = ans.body[:len(ans.body)/2]
		x.write(ans)
		return true
	case "reset":
		x.w.Header().Set("Content-Length", strconv.Itoa(len(ans.body)))
		ans.body = ans.body[:len(ans.body)/2]
		x.write(ans)
		_ = http.NewResponseController(x.w).Flush() // without a flusher the abort alone has to do
		panic(http.ErrAbortHandler)
	}
	return false
}

// wait pauses a request; closing the server ends the pause.
func wait(x *exchange, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-x.srv.closing:
	}
}

func writeGatewayPage(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/html")
	w.WriteHeader(http.StatusBadGateway)
	_, _ = w.Write([]byte("<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n</body>\r\n</html>\r\n"))
}
