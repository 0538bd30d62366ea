package httpx

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/jackc/pgx/v5/pgconn"

	"shop/internal/apperr"
	"shop/templates"
)

// statusOf is the one switch from kinds of error to statuses.
func statusOf(err error) int {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return http.StatusRequestEntityTooLarge
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return http.StatusServiceUnavailable // the database is away, for a moment as a rule
	}
	switch apperr.KindOf(err) {
	case apperr.Invalid:
		return http.StatusUnprocessableEntity
	case apperr.Malformed:
		return http.StatusBadRequest
	case apperr.NotFound:
		return http.StatusNotFound
	case apperr.Unauthorized:
		return http.StatusUnauthorized
	case apperr.Forbidden:
		return http.StatusForbidden
	case apperr.Conflict, apperr.InFlight:
		return http.StatusConflict
	case apperr.TooLarge:
		return http.StatusRequestEntityTooLarge
	case apperr.MethodNotAllowed:
		return http.StatusMethodNotAllowed
	case apperr.Unavailable:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// messageOf is what a person may read of an error. Faults of ours are not
// explained to strangers; the log has them under the request id.
func messageOf(err error, status int) string {
	if e, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return tooLarge(e.Limit)
	}
	if e, ok := errors.AsType[*apperr.Error](err); ok && status < 500 {
		return e.Message
	}
	return ""
}

func tooLarge(limit int64) string {
	return fmt.Sprintf("The request is larger than the %d KiB that are read here. Nothing was changed.", limit/1024)
}

func (k *Kit) logError(c *gin.Context, err error, status int) {
	if status < 500 || errors.Is(err, context.Canceled) {
		return
	}
	k.log.ErrorContext(c.Request.Context(), "answering a request", "method", c.Request.Method, "path", c.Request.URL.Path,
		"request_id", RequestID(c), "error", err)
}

// Error answers with a page, or with problem+json where programs call, for middleware
// that serves both.
func (k *Kit) Error(c *gin.Context, err error) {
	if strings.HasPrefix(c.Request.URL.Path, "/api/") || strings.HasPrefix(c.Request.URL.Path, "/webhooks/") {
		k.ProblemError(c, err)
		return
	}
	k.PageError(c, err)
}

// PageError answers with the page of an error.
func (k *Kit) PageError(c *gin.Context, err error) {
	status := statusOf(err)
	k.logError(c, err, status)
	view := templates.ErrorView{Shell: templates.Shell{Demo: k.demo}, Status: status, Text: messageOf(err, status),
		RequestID: RequestID(c)}
	if e, ok := errors.AsType[*apperr.Error](err); ok && len(e.Fields) > 0 && status < 500 {
		view.Text = e.Fields[0].Problem
	}
	if renderErr := Render(c, status, templates.ErrorPage(view)); renderErr != nil {
		k.log.ErrorContext(c.Request.Context(), "rendering an error page", "error", renderErr)
		c.String(status, "%s", http.StatusText(status))
	}
	c.Abort()
}

// problem is the body of an RFC 9457 answer.
type problem struct {
	Type      string         `json:"type"`
	Title     string         `json:"title"`
	Status    int            `json:"status"`
	Detail    string         `json:"detail,omitempty"`
	RequestID string         `json:"request_id,omitempty"`
	Errors    []problemField `json:"errors,omitempty"`
}

type problemField struct {
	Field  string `json:"field"`
	Detail string `json:"detail"`
}

// ProblemError answers with problem+json.
func (k *Kit) ProblemError(c *gin.Context, err error) {
	status := statusOf(err)
	k.logError(c, err, status)
	body := problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: messageOf(err, status), RequestID: RequestID(c)}
	if e, ok := errors.AsType[*apperr.Error](err); ok && status < 500 {
		for _, f := range e.Fields {
			body.Errors = append(body.Errors, problemField{Field: f.Name, Detail: f.Problem})
		}
	}
	if apperr.KindOf(err) == apperr.InFlight || status == http.StatusServiceUnavailable {
		c.Header("Retry-After", "1")
	}
	c.Header("Cache-Control", "no-store")
	c.Header("Content-Type", "application/problem+json")
	c.AbortWithStatusJSON(status, body)
}
