package stripesim

import (
	"crypto/subtle"
	"net/http"
	"net/url"
)

// threeDSPage is what the page on which a person plays the bank needs.
type threeDSPage struct {
	ID, Amount, Action, Card string
	Done                     string // set when there is nothing to decide
}

// actionable is an intent that may wait for its customer.
type actionable struct {
	secret, status, returnURL, amount, card string
	finish                                  func(c *call, approved bool)
	query                                   string // name of the query parameter carrying the id
}

// findActionable looks an intent up by id and client secret.
func (a *account) findActionable(id, secret string) (actionable, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	var found actionable
	if pi := a.intents.get(id); pi != nil {
		found = actionable{secret: pi.ClientSecret, status: pi.Status, returnURL: pi.Sim.ReturnURL, query: "payment_intent",
			amount: formatMoney(pi.Amount, pi.Currency), card: a.lastFour(pi.PaymentMethod)}
		found.finish = func(c *call, ok bool) {
			if pi := a.intents.get(id); pi.Status == needsAction {
				c.authenticated(pi, ok)
			}
		}
	} else if si := a.setups.get(id); si != nil {
		found = actionable{secret: si.ClientSecret, status: si.Status, returnURL: si.Sim.ReturnURL, query: "setup_intent",
			amount: "saving a card", card: a.lastFour(si.PaymentMethod)}
		found.finish = func(c *call, ok bool) {
			if si := a.setups.get(id); si.Status == needsAction {
				c.setupAuthenticated(si, ok)
			}
		}
	}
	return found, found.secret != "" && subtle.ConstantTimeCompare([]byte(found.secret), []byte(secret)) == 1
}

func (a *account) lastFour(id *string) string {
	if m := a.methods.get(deref(id)); m != nil {
		return m.Card.Last4
	}
	return ""
}

// serveThreeDS shows the bank's page (GET) and takes the person's decision (POST);
// afterwards the browser goes back to return_url with the intent in the query.
func (s *Server) serveThreeDS(w http.ResponseWriter, r *http.Request) {
	allowOrigin(w.Header())
	a := s.existingAccount(r.PathValue("account"))
	id, secret := r.PathValue("id"), r.URL.Query().Get("s")
	if a == nil {
		http.Error(w, "No such payment. Go back to the shop and try again.", http.StatusNotFound)
		return
	}
	found, ok := a.findActionable(id, secret)
	if !ok {
		http.Error(w, "No such payment, or the link is incomplete. Go back to the shop and try again.", http.StatusNotFound)
		return
	}
	page := threeDSPage{ID: id, Amount: found.amount, Card: found.card, Action: r.URL.RequestURI()}
	if r.Method == http.MethodPost {
		if err := s.internal(a, s.origin(r), func(c *call) { found.finish(c, r.FormValue("result") == "approve") }); err != nil {
			http.Error(w, "The decision could not be stored: "+err.Error(), http.StatusInternalServerError)
			return
		}
		found, _ = a.findActionable(id, secret)
		if target := returnTarget(found, id); target != "" && r.FormValue("stay") == "" {
			http.Redirect(w, r, target, http.StatusSeeOther)
			return
		}
	}
	if found.status != needsAction {
		page.Done = found.status
	}
	s.render(w, "threeds.html", page)
}

// returnTarget is return_url with what Stripe adds to its query.
func returnTarget(found actionable, id string) string {
	if found.returnURL == "" {
		return ""
	}
	u, err := url.Parse(found.returnURL)
	if err != nil {
		return ""
	}
	status := "succeeded"
	if found.status != succeeded && found.status != needsCapture && found.status != needsConfirmation {
		status = "failed"
	}
	q := u.Query()
	q.Set(found.query, id)
	q.Set(found.query+"_client_secret", found.secret)
	q.Set("redirect_status", status)
	u.RawQuery = q.Encode()
	return u.String()
}
