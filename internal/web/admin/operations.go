package admin

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"shop/internal/operations"
	"shop/internal/orders"
	"shop/internal/payments"
	"shop/internal/receipts"
	"shop/internal/web/httpx"
	"shop/templates"
)

const pageSize = 50

var (
	states = []string{"pending", "running", "waiting", "stuck", "done"}
	kinds  = []string{payments.ChargeKind, payments.RefundKind, receipts.Kind, payments.EventKind, "http-request"}
)

func (a *Admin) operations(c *gin.Context) error {
	ctx := c.Request.Context()
	f := operations.Filter{State: operations.State(oneOf(c.Query("state"), states)), Kind: oneOf(c.Query("kind"), kinds),
		Before: readCursor(c.Query("before")), Limit: pageSize + 1}
	ops, err := a.Ops.List(ctx, f)
	if err != nil {
		return err
	}
	now, err := a.Ops.Now(ctx)
	if err != nil {
		return err
	}
	v := templates.AdminOperationsView{AdminShell: a.shell(c), Now: now, States: states, Kinds: kinds,
		State: string(f.State), Kind: f.Kind}
	if len(ops) > pageSize {
		ops = ops[:pageSize]
		v.OlderURL = listURL(f, writeCursor(ops[pageSize-1]))
	}
	if !f.Before.CreatedAt.IsZero() {
		v.NewestURL = listURL(f, "")
	}
	for _, op := range ops {
		row, err := a.row(c, op)
		if err != nil {
			return err
		}
		v.Rows = append(v.Rows, row)
	}
	return httpx.Render(c, http.StatusOK, templates.AdminOperationsPage(v))
}

func oneOf(value string, allowed []string) string {
	for _, a := range allowed {
		if a == value {
			return value
		}
	}
	return ""
}

func listURL(f operations.Filter, before string) string {
	q := url.Values{}
	for name, value := range map[string]string{"state": string(f.State), "kind": f.Kind, "before": before} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return "/admin/operations?" + q.Encode()
}

// A cursor is the time in microseconds, as exact as PostgreSQL's, and the key.
func writeCursor(op operations.Operation) string {
	return strconv.FormatInt(op.CreatedAt.UnixMicro(), 10) + "." + string(op.Key)
}

func readCursor(text string) operations.Cursor {
	micros, key, _ := strings.Cut(text, ".")
	n, err := strconv.ParseInt(micros, 10, 64)
	if err != nil || n <= 0 || n > 1<<52 {
		return operations.Cursor{}
	}
	return operations.Cursor{CreatedAt: time.UnixMicro(n), Key: operations.Key(strings.ToValidUTF8(strings.ReplaceAll(key, "\x00", ""), ""))}
}

func (a *Admin) row(c *gin.Context, op operations.Operation) (templates.OperationRow, error) {
	r := templates.OperationRow{Key: string(op.Key), URL: "/admin/operations/" + string(op.Key), Kind: op.Kind,
		Subject: op.SubjectType + " " + op.SubjectID, State: string(op.State), Reason: text(op.WaitReason), Owner: text(op.Owner),
		Fence: op.Fence, Claims: op.Claims, Replays: op.Replays, LastError: text(op.Error), CreatedAt: op.CreatedAt}
	if op.Outcome != nil {
		r.Outcome = string(*op.Outcome)
	}
	if op.LeaseUntil != nil {
		r.LeaseUntil = *op.LeaseUntil
	}
	if op.State == operations.Stuck {
		r.Reason = text(op.Error)
	}
	return r, nil
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// subjectURL is the page of what an operation belongs to.
func (a *Admin) subjectURL(c *gin.Context, op operations.Operation) string {
	id, err := strconv.ParseInt(op.SubjectID, 10, 64)
	if op.SubjectType != orders.SubjectType || err != nil {
		return ""
	}
	order, err := a.Orders.OrderByID(c.Request.Context(), id)
	if err != nil {
		return ""
	}
	return "/orders/" + order.PublicID
}
