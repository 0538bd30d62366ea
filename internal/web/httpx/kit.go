// Package httpx is what the storefront, the dashboard and the API have in
// common: handlers that return errors, pages that are rendered before they are
// sent, and one place that turns errors into answers.
package httpx

import (
	"bytes"
	"log/slog"
	"net/http"

	"github.com/a-h/templ"
	"github.com/gin-gonic/gin"
)

// Handler answers a request or says why it cannot. It must not have written
// anything when it returns an error.
type Handler func(c *gin.Context) error

// Kit turns handlers into gin's.
type Kit struct {
	log  *slog.Logger
	demo bool
}

// NewKit returns a kit that logs to log.
func NewKit(log *slog.Logger, demo bool) *Kit { return &Kit{log: log, demo: demo} }

// Page wraps a handler whose errors are shown as a page.
func (k *Kit) Page(h Handler) gin.HandlerFunc {
	return func(c *gin.Context) {
		if err := h(c); err != nil {
			k.PageError(c, err)
		}
	}
}

// JSON wraps a handler whose errors are shown as problem+json (RFC 9457).
func (k *Kit) JSON(h Handler) gin.HandlerFunc {
	return func(c *gin.Context) {
		if err := h(c); err != nil {
			k.ProblemError(c, err)
		}
	}
}

// Render sends a component as a page. It is rendered whole before the first
// byte leaves, so that a failure half-way becomes an error page and not half a
// page.
func Render(c *gin.Context, status int, page templ.Component) error {
	var buf bytes.Buffer
	if err := page.Render(c.Request.Context(), &buf); err != nil {
		return err
	}
	c.Header("Cache-Control", "no-store")
	c.Data(status, "text/html; charset=utf-8", buf.Bytes())
	return nil
}

// SeeOther ends a form with a redirect, so that a reload does not send it again.
func SeeOther(c *gin.Context, url string) error {
	c.Header("Cache-Control", "no-store")
	c.Redirect(http.StatusSeeOther, url)
	return nil
}

// Middleware wraps a handler that only lets a request pass: with an error, or
// after c.Abort, nothing further runs.
func (k *Kit) Middleware(h Handler) gin.HandlerFunc { return k.Page(h) }
