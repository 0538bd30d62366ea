package stripesim

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"
)

// answer is what a request will be told.
type answer struct {
	status   int
	body     []byte
	original string // request id of the first request with the key
	replayed bool
	executed bool
	code     string // error code or type, for the log
	object   string // id of the object answered with, for the log
	retry    string // Stripe-Should-Retry
}

// refusal renders an error: where the account is known it names the request, and a
// publishable key sees no more of the intent than a read would show.
func (x *exchange) refusal(e *apiError) answer {
	shown := *e
	ans := answer{status: e.status, executed: e.executed, code: e.Code}
	if ans.code == "" {
		ans.code = e.Type
	}
	if pi, ok := e.PaymentIntent.(*PaymentIntent); ok {
		ans.object = pi.ID
		if x.publishable {
			shown.PaymentIntent = (&intent{PaymentIntent: *pi}).public()
		}
	}
	if x.acct != nil {
		shown.RequestLogURL = "https://dashboard.stripe.com/test/logs/" + x.requestID + "?t=" + strconv.FormatInt(x.now, 10)
	}
	ans.body, _ = json.Marshal(map[string]*apiError{"error": &shown}) // plain struct: cannot fail
	return ans
}

// exchange is one HTTP request and everything found out about it.
type exchange struct {
	call
	w       http.ResponseWriter
	r       *http.Request
	version string
	fault   *faultHit
}

// serve handles one API request: what comes before the idempotency layer, the
// layer and the endpoint, and the way back to the client.
func (s *Server) serve(ep *endpoint, w http.ResponseWriter, r *http.Request) {
	x := &exchange{w: w, r: r, version: apiVersion}
	x.srv, x.ep, x.requestID = s, ep, s.ids.id("req_", 14)
	x.id, x.sub = r.PathValue("id"), r.PathValue("sub")
	x.origin = s.origin(r)
	x.key = r.Header.Get("Idempotency-Key")
	x.now = s.clock.unix()
	allowOrigin(w.Header())

	form, tooLarge := readForm(r)
	parsed, formErr := parseForm(form)
	x.reader.p = parsed
	x.fault = s.faults.pick(x)
	if x.fault.before(x) {
		return
	}
	x.finish(x.answer(formErr, tooLarge))
}

// readForm returns the parameters as text: the query and, of a POST, the body.
func readForm(r *http.Request) (string, bool) {
	if r.Method != http.MethodPost {
		return r.URL.RawQuery, false
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBodyBytes+1))
	if err != nil || len(body) > maxBodyBytes {
		// A client that is still sending when the connection closes never sees the answer.
		_, _ = io.Copy(io.Discard, io.LimitReader(r.Body, maxDrainBytes))
		return "", true
	}
	if r.URL.RawQuery != "" {
		return r.URL.RawQuery + "&" + string(body), false
	}
	return string(body), false
}

// answer does the checks that come before the idempotency layer, in Stripe's
// order: nothing they refuse is stored, nor says anything about the key.
func (x *exchange) answer(formErr *apiError, tooLarge bool) answer {
	if err := x.admit(formErr, tooLarge); err != nil {
		ans := x.refusal(err)
		x.note(ans)
		return ans
	}
	return x.execute()
}

func (x *exchange) admit(formErr *apiError, tooLarge bool) *apiError {
	cred, err := authenticate(x.r, x.reader.p)
	if err != nil {
		return err
	}
	x.publishable = cred.publishable
	x.acct = x.srv.account(cred.account)
	if err := x.checkRate(); err != nil {
		return err
	}
	if x.version, err = requestVersion(x.r.Header); err != nil {
		return err
	}
	switch {
	case tooLarge:
		return &apiError{status: 413, Type: typeInvalid, Message: "Request body is larger than 1 MiB. Send less."}
	case formErr != nil:
		return formErr
	case x.publishable && !x.ep.public:
		return secretKeyRequired()
	case x.ep.method != http.MethodPost:
		x.key = "" // keys have no effect on GET and DELETE
	}
	return checkKey(x.key)
}

// finish logs the request and writes the answer, unless a fault mangles it.
func (x *exchange) finish(ans answer) {
	if x.fault.after(x, ans) {
		return
	}
	x.write(ans)
}

// write sends an answer as it is.
func (x *exchange) write(ans answer) {
	h := x.w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Request-Id", x.requestID)
	h.Set("Stripe-Version", x.version)
	h.Set("Cache-Control", "no-cache, no-store")
	if key := x.r.Header.Get("Idempotency-Key"); key != "" {
		h.Set("Idempotency-Key", key)
	}
	if ans.original != "" {
		h.Set("Original-Request", ans.original)
	}
	if ans.replayed {
		h.Set("Idempotent-Replayed", "true")
	}
	if ans.retry != "" {
		h.Set("Stripe-Should-Retry", ans.retry)
	}
	if ans.status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Basic realm="Stripe"`)
	}
	x.w.WriteHeader(ans.status)
	_, _ = x.w.Write(ans.body) // the client went away: its outcome is unknown to it
}

// entry describes the exchange for the request log.
func (x *exchange) entry(ans answer) requestEntry {
	e := requestEntry{Time: x.srv.clock.now().Round(time.Microsecond), RequestID: x.requestID, Method: x.r.Method,
		Path: x.r.URL.Path, Endpoint: x.ep.method + " " + x.ep.path, Key: x.r.Header.Get("Idempotency-Key"),
		Params: logged(x.reader.p), Status: x.fault.sent(ans.status), Replayed: ans.replayed, Executed: ans.executed, Code: ans.code, Object: ans.object}
	if x.acct != nil {
		e.Account = x.acct.name
	}
	e.Fault = x.fault.kind()
	return e
}

// run calls the endpoint; a panic in it is a 500, never a dead process.
func (x *exchange) run() (v any, err *apiError) {
	defer func() {
		if p := recover(); p != nil {
			x.srv.logger.Error("endpoint panicked", "endpoint", x.ep.path, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			v, err = nil, internalError()
		}
	}()
	if err := x.ep.params.check(x.reader.p); err != nil {
		return nil, err
	}
	if err := x.ep.checkExpand(x.reader.p); err != nil {
		return nil, err
	}
	v, err = x.ep.run(&x.call)
	if err != nil {
		return nil, err
	}
	return x.expanded(v), nil
}
