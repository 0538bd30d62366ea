package stripesim

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
)

//go:embed assets
var assets embed.FS

// controls adds what is not Stripe's: pages, Stripe.js, and the switches of the
// simulator below /_sim/.
func (s *Server) controls(mux *http.ServeMux) {
	mux.HandleFunc("GET /{$}", s.serveOverview)
	mux.HandleFunc("GET /_sim/objects/{account}/{id}", s.serveObject)
	mux.HandleFunc("GET /_sim/requests", s.serveRequests)
	mux.HandleFunc("GET /_sim/ledger", s.serveLedger)
	mux.HandleFunc("GET /_sim/deliveries", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, map[string]any{"deliveries": s.hooks.attempts(keepAttempts)})
	})
	mux.HandleFunc("GET /_sim/clock", s.serveClock)
	mux.HandleFunc("POST /_sim/clock", s.moveClock)
	mux.HandleFunc("GET /_sim/faults", s.serveFaults)
	mux.HandleFunc("POST /_sim/faults", s.addFault)
	mux.HandleFunc("POST /_sim/faults/clear", s.clearFaults)
	mux.HandleFunc("DELETE /_sim/faults", s.removeFault)
	mux.HandleFunc("DELETE /_sim/faults/{id}", s.removeFault)
	mux.HandleFunc("GET /_sim/webhooks", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, s.hooks.currentTricks()) })
	mux.HandleFunc("POST /_sim/webhooks", s.setWebhookTricks)
	mux.HandleFunc("POST /_sim/webhooks/{account}/{id}/roll", s.rollSecret)
	mux.HandleFunc("POST /_sim/events/{account}/{id}/resend", s.resendEvent)
	mux.HandleFunc("GET /_sim/3ds/{account}/{id}", s.serveThreeDS)
	mux.HandleFunc("POST /_sim/3ds/{account}/{id}", s.serveThreeDS)
	mux.HandleFunc("GET /_sim/receipts/{id}", s.serveReceipt)
	files, err := fs.Sub(assets, "assets")
	if err != nil {
		panic(err) // the directory is compiled in
	}
	mux.HandleFunc("GET /_sim/js/v3/{$}", func(w http.ResponseWriter, r *http.Request) { serveAsset(w, r, files, "stripe.js") })
	mux.HandleFunc("GET /_sim/js/v3/card.css", func(w http.ResponseWriter, r *http.Request) { serveAsset(w, r, files, "card.css") })
	mux.HandleFunc("GET /_sim/page.css", func(w http.ResponseWriter, r *http.Request) { serveAsset(w, r, files, "page.css") })
}

func serveAsset(w http.ResponseWriter, r *http.Request, files fs.FS, name string) {
	allowOrigin(w.Header())
	w.Header().Set("Cache-Control", "no-cache")
	http.ServeFileFS(w, r, files, name)
}

// control is the body of a POST to a switch: JSON from a program, or the form of
// a button on the page.
type control struct {
	form url.Values
	json []byte // nil when a form was sent
}

// readControl tells JSON from a form by its first character, since curl -d labels
// everything a form.
func readControl(r *http.Request) control {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBodyBytes))
	if trimmed := bytes.TrimSpace(body); err == nil && len(trimmed) > 0 && trimmed[0] == '{' {
		return control{json: trimmed}
	}
	form, _ := url.ParseQuery(string(body)) // what cannot be read is missing, which is told
	return control{form: form}
}

// into decodes JSON strictly, so that a misspelt field is told.
func (c control) into(v any) error {
	dec := json.NewDecoder(bytes.NewReader(c.json))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return fmt.Errorf("the body must be JSON with the documented fields: %w", err)
	}
	return nil
}

// answer sends a browser's form back to the overview and a program its JSON.
func (c control) answer(w http.ResponseWriter, r *http.Request, show http.HandlerFunc) {
	if c.form.Get("back") != "" {
		http.Redirect(w, r, "/", http.StatusSeeOther)
		return
	}
	show(w, r)
}
