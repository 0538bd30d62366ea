package stripesim

import (
	"bytes"
	"encoding/json"
	"time"
)

// execute is the idempotency layer around an endpoint. One critical section holds
// look-up, claim, execution and the journal record, so a key can never execute
// twice; only a slow fault steps outside it, with the key and the object held.
func (x *exchange) execute() answer {
	a := x.acct
	a.mu.Lock()
	if x.key != "" {
		print := fingerprint(x.ep.method, x.r.URL.Path, x.reader.p)
		stored, err := a.reserve(x.key, print, x.ep.method+" "+x.r.URL.Path, x.requestID, x.now)
		if stored != nil || err != nil {
			return x.answerFromKey(stored, err)
		}
	}
	if err := x.holdObject(); err != nil {
		a.release(x.key)
		a.mu.Unlock()
		ans := x.refusal(err)
		x.note(ans)
		return ans
	}
	v, err := x.fault.inside(x)
	ans, number := x.commit(v, err)
	events := x.events
	a.mu.Unlock()
	if jerr := x.srv.journal.wait(number); jerr != nil {
		x.srv.logger.Error("journal failed", "error", jerr)
		return x.refusal(internalError())
	}
	x.srv.hooks.enqueue(a, events)
	return ans
}

// answerFromKey ends a request whose key was known. It unlocks the account.
func (x *exchange) answerFromKey(stored *idemRecord, err *apiError) answer {
	var ans answer
	if err != nil {
		ans = x.refusal(err)
	} else {
		ans = answer{status: stored.Status, body: []byte(stored.Body), original: stored.RequestID, replayed: true}
	}
	last := x.acct.last
	x.acct.mu.Unlock()
	if err := x.srv.journal.wait(last); err != nil {
		return x.refusal(internalError())
	}
	x.note(ans)
	return ans
}

// commit renders the answer and writes what happened into one journal record. The
// caller holds the account's mutex and waits for the returned record number.
func (x *exchange) commit(v any, err *apiError) (answer, uint64) {
	var ans answer
	if err != nil {
		ans = x.refusal(err)
	} else {
		ans = answer{status: 200, executed: true, body: x.render(v)}
		ans.object = idOf(v, ans.body)
	}
	rec := outRecord{Account: x.acct.name, Events: x.events}
	if x.key != "" {
		ans.original = x.requestID
		if ans.executed {
			r := x.acct.idem[x.key]
			r.Status, r.Body = ans.status, string(ans.body)
			rec.Key, rec.body = r, ans.body
		} else {
			x.acct.release(x.key)
		}
	}
	entry := x.srv.log.add(x.entry(ans))
	if x.ep.method == "GET" {
		return ans, x.acct.last
	}
	rec.Request = &entry
	for _, o := range x.versions {
		rec.Objects = append(rec.Objects, outObject{o.kind(), o})
	}
	x.acct.last = x.srv.save(rec)
	return ans, x.acct.last
}

// note logs a request that did not execute. Nothing rests on the record, so that a
// journal that fails is told to the log only.
func (x *exchange) note(ans answer) {
	e := x.srv.log.add(x.entry(ans))
	if x.ep.method == "GET" {
		return
	}
	if err := x.srv.journal.wait(x.srv.save(outRecord{Request: &e})); err != nil {
		x.srv.logger.Error("journal failed", "error", err)
	}
}

// idOf reads the id of an object answered with; empty for a list. It comes first in
// the body, except where expand[] made a tree of the answer.
func idOf(v any, body []byte) string {
	if tree, expanded := v.(map[string]any); expanded {
		id, _ := tree["id"].(string)
		return id
	}
	rest, ok := bytes.CutPrefix(body, []byte(`{"id":"`))
	id, _, closed := bytes.Cut(rest, []byte(`"`))
	if !ok || !closed {
		return ""
	}
	return string(id)
}

func (x *exchange) render(v any) []byte {
	body, err := json.Marshal(v)
	if err != nil {
		x.srv.logger.Error("rendering an answer failed", "error", err)
		return x.refusal(internalError()).body
	}
	return body
}

// holdObject waits until no slow execution holds the object this call changes;
// after LockWait it gives up with 429 lock_timeout.
func (x *exchange) holdObject() *apiError {
	if x.ep.method == "GET" {
		return nil
	}
	id := x.lockID()
	var deadline <-chan time.Time
	for {
		held := x.acct.held[id]
		if held == nil || id == "" {
			return nil
		}
		if deadline == nil {
			timer := time.NewTimer(x.srv.cfg.LockWait)
			defer timer.Stop()
			deadline = timer.C
		}
		x.acct.mu.Unlock()
		select {
		case <-held:
			x.acct.mu.Lock()
		case <-deadline:
			x.acct.mu.Lock()
			return lockTimeout()
		}
	}
}

func lockTimeout() *apiError {
	e := invalid("", "This object cannot be accessed right now because another API request or Stripe process is currently accessing it. If you see this error intermittently, retry the request. If you see this error frequently and are making multiple concurrent requests to a single object, make your requests serially or at a lower rate.").withCode("lock_timeout")
	e.status = 429
	return e
}
