package mailsim

import (
	"embed"
	"io/fs"
	"net/http"
)

//go:embed assets
var assetFiles embed.FS

// Policies for what browsers may do. The page runs its own script alone; a
// message runs nothing, loads nothing and is of no origin at all, wherever it
// is opened.
const (
	pagePolicy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; " +
		"frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
	messagePolicy = "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; style-src 'unsafe-inline'; " +
		"img-src data:; font-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'self'"
)

// routes lists who asks for what: people the pages, tests and tools /api.
func (s *Server) routes() http.Handler {
	assets, err := fs.Sub(assetFiles, "assets")
	if err != nil {
		panic(err) // the embedded directory is part of the program
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.showList)
	mux.HandleFunc("GET /messages/{id}", s.showMessage)
	mux.HandleFunc("GET /messages/{id}/html", s.serveHTML)
	mux.HandleFunc("GET /messages/{id}/raw", s.serveRaw)
	mux.HandleFunc("GET /messages/{id}/parts/{n}", s.servePart)
	mux.HandleFunc("POST /clear", s.postClear)
	mux.HandleFunc("POST /faults", s.postFault)
	mux.HandleFunc("POST /faults/clear", s.postClearFaults)
	mux.Handle("GET /assets/", http.StripPrefix("/assets/", http.FileServerFS(assets)))
	mux.HandleFunc("/", s.showNotFound)

	mux.HandleFunc("GET /healthz", s.apiHealth)
	mux.HandleFunc("GET /api/messages", s.apiList)
	mux.HandleFunc("GET /api/messages/{id}", s.apiGet)
	mux.HandleFunc("DELETE /api/messages", s.apiClear)
	mux.HandleFunc("GET /api/faults", s.apiFaults)
	mux.HandleFunc("POST /api/faults", s.apiArm)
	mux.HandleFunc("DELETE /api/faults", s.apiDisarm)
	mux.HandleFunc("/api/", s.apiNotFound)

	// Other sites that a developer's browser has open must not reach in.
	guard := http.NewCrossOriginProtection()
	if s.public != "" {
		if err := guard.AddTrustedOrigin(s.public); err != nil {
			s.log.Warn("public URL is not usable as an origin", "url", s.public, "error", err)
		}
	}
	return guard.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", pagePolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-cache")
		r.Body = http.MaxBytesReader(w, r.Body, 64<<10)
		mux.ServeHTTP(w, r)
	}))
}
