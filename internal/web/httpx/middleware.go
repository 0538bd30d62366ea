package httpx

import (
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"shop/internal/apperr"
)

// requestIDKey is where a request's id lives in gin's context.
const requestIDKey = "request_id"

// RequestID names this request in logs and in error pages.
func RequestID(c *gin.Context) string { return c.GetString(requestIDKey) }

// Identify gives each request an id of our own; one that a stranger sends is
// not taken over into our logs.
func Identify(c *gin.Context) {
	id := "req_" + strings.ToLower(rand.Text())
	c.Set(requestIDKey, id)
	c.Header("Request-Id", id)
}

// Log writes one line for each request that is not an asset.
func Log(log *slog.Logger) gin.HandlerFunc {
	return func(c *gin.Context) {
		start := time.Now()
		c.Next()
		if strings.HasPrefix(c.Request.URL.Path, "/assets/") || c.Request.URL.Path == "/healthz" {
			return
		}
		log.InfoContext(c.Request.Context(), "request", "method", c.Request.Method, "path", c.Request.URL.Path,
			"status", c.Writer.Status(), "duration_ms", time.Since(start).Milliseconds(), "request_id", RequestID(c))
	}
}

// Recover turns a panic into an error page and keeps the process alive.
func (k *Kit) Recover(c *gin.Context) {
	defer func() {
		if r := recover(); r != nil {
			k.Error(c, fmt.Errorf("panic: %v", r))
		}
	}()
	c.Next()
}

// LimitBody refuses bodies above limit bytes, at once when the length is told
// beforehand.
func (k *Kit) LimitBody(limit int64) gin.HandlerFunc {
	return func(c *gin.Context) {
		if c.Request.ContentLength > limit {
			// The rest of the body is not read; the connection ends with the answer.
			c.Header("Connection", "close")
			k.Error(c, apperr.New(apperr.TooLarge, "%s", tooLarge(limit)))
			return
		}
		c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, limit)
	}
}

// CleanAddress refuses addresses whose path or query is not text: no page has
// such an address, and the database would refuse it later with an error that
// looks like ours.
func (k *Kit) CleanAddress(c *gin.Context) {
	if !isText(c.Request.URL.Path) {
		k.Error(c, apperr.New(apperr.NotFound, "There is nothing at this address."))
		return
	}
	for name, values := range c.Request.URL.Query() {
		for _, v := range append(values, name) {
			if !isText(v) {
				k.Error(c, apperr.New(apperr.Malformed, "The address contains text that is not valid UTF-8."))
				return
			}
		}
	}
}

// isText says whether PostgreSQL takes a string as text.
func isText(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }

// SameOrigin refuses forms that another site sends in our visitor's name
// (net/http.CrossOriginProtection).
func (k *Kit) SameOrigin(c *gin.Context) {
	if err := http.NewCrossOriginProtection().Check(c.Request); err != nil {
		k.PageError(c, apperr.New(apperr.Forbidden, "This form came from another site, so it was not used.").Because(err))
	}
}

// Form reads a form body. Text that is not valid UTF-8, or that holds a NUL,
// is refused here once for all fields: the database would refuse it later.
func Form(c *gin.Context) (url.Values, error) {
	if err := c.Request.ParseForm(); err != nil {
		if statusOf(err) == http.StatusRequestEntityTooLarge {
			return nil, err
		}
		return nil, apperr.New(apperr.Malformed, "The form could not be read. Nothing was changed.").Because(err)
	}
	for name, values := range c.Request.PostForm {
		for _, v := range append(values, name) {
			if !isText(v) {
				return nil, apperr.New(apperr.Malformed, "The form contains text that is not valid UTF-8. Nothing was changed.")
			}
		}
	}
	return c.Request.PostForm, nil
}

// SecurityHeaders sets the policy under which pages run: nothing from
// elsewhere but the card form, no framing, no guessing of types.
func SecurityHeaders(csp string) gin.HandlerFunc {
	return func(c *gin.Context) {
		h := c.Writer.Header()
		h.Set("Content-Security-Policy", csp)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "strict-origin-when-cross-origin")
		h.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=()")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
	}
}
