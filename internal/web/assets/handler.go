package assets

import (
	"bytes"
	"net/http"
	"strings"
	"time"
)

// Handler serves the assets under /assets/. What is asked for with the right
// version may be kept for a year; anything else is checked again each time,
// because the next release may answer the same address with other bytes.
func Handler() http.Handler { return http.HandlerFunc(serve) }

func serve(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "assets can only be read", http.StatusMethodNotAllowed)
		return
	}
	f, ok := lookup(r.URL.Path)
	if !ok {
		w.Header().Set("Cache-Control", "no-cache")
		http.Error(w, "no such asset", http.StatusNotFound)
		return
	}
	h := w.Header()
	h.Set("Content-Type", f.contentType)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Vary", "Accept-Encoding")
	h.Set("Cache-Control", "no-cache")
	if r.URL.Query().Get("v") == f.version {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	body, tag := f.plain, f.version
	if f.zip != nil && acceptsGzip(r.Header.Get("Accept-Encoding")) {
		// The two encodings are two representations, so they have two tags.
		h.Set("Content-Encoding", "gzip")
		body, tag = f.zip, f.version+"-gzip"
	}
	h.Set("ETag", `"`+tag+`"`)
	// ServeContent answers If-None-Match and Range; the zero time keeps it from
	// sending Last-Modified, since embedded files have no date.
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}

// acceptsGzip reads an Accept-Encoding header: gzip counts unless its weight
// is zero (RFC 9110, section 12.5.3).
func acceptsGzip(header string) bool {
	for part := range strings.SplitSeq(header, ",") {
		coding, params, _ := strings.Cut(part, ";")
		if !strings.EqualFold(strings.TrimSpace(coding), "gzip") {
			continue
		}
		weight := strings.TrimSpace(params)
		return weight != "q=0" && weight != "q=0.0" && weight != "q=0.00" && weight != "q=0.000"
	}
	return false
}
