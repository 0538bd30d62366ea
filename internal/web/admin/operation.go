package admin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"shop/internal/apperr"
	"shop/internal/operations"
	"shop/internal/payments"
	"shop/internal/web/httpx"
	"shop/templates"
)

func (a *Admin) operation(c *gin.Context) error {
	ctx := c.Request.Context()
	op, err := a.Ops.Get(ctx, operations.Key(c.Param("key")))
	if errors.Is(err, operations.ErrNotFound) {
		return apperr.New(apperr.NotFound, "There is no operation with this key.")
	}
	if err != nil {
		return err
	}
	events, err := a.Ops.Timeline(ctx, op.Key)
	if err != nil {
		return err
	}
	now, err := a.Ops.Now(ctx)
	if err != nil {
		return err
	}
	row, err := a.row(c, op)
	if err != nil {
		return err
	}
	row.SubjectURL = a.subjectURL(c, op)
	v := templates.AdminOperationView{AdminShell: a.shell(c), Now: now, Operation: row, Next: next(op),
		Identity: indent(op.Identity), Params: indent(op.Params), Result: indent(op.Result), Fingerprint: op.Fingerprint,
		ProviderRef: text(op.ProviderRef), ProviderURL: a.providerURL(op), OutcomeUnknown: op.OutcomeUnknown}
	if op.DueAt != nil {
		v.DueAt = *op.DueAt
	}
	if op.FirstSentAt != nil {
		v.FirstSentAt = *op.FirstSentAt
	}
	for _, e := range events {
		v.Events = append(v.Events, templates.OperationEvent{At: e.At, Type: e.Type, Fence: e.Fence, Owner: text(e.Owner),
			Source: text(e.Source), Detail: indent(e.Detail)})
	}
	return httpx.Render(c, http.StatusOK, templates.AdminOperationPage(v))
}

// next says what happens by itself and when.
func next(op operations.Operation) string {
	at := func(t *time.Time) string { return t.UTC().Format("15:04:05 UTC") }
	switch op.State {
	case operations.Pending:
		return fmt.Sprintf("A worker takes it from the queue. If none has by %s, the sweeper queues it again.", at(op.DueAt))
	case operations.Running:
		return fmt.Sprintf("%s is working on it. If it falls silent, its lease passes at %s and another worker takes over; what it has done meanwhile counts, what it writes afterwards is refused.",
			text(op.Owner), at(op.LeaseUntil))
	case operations.Waiting:
		if text(op.WaitReason) == payments.WaitForShopper {
			return fmt.Sprintf("The shopper is asked to confirm with the bank. Without that the payment is canceled at %s.", at(op.RetryAt))
		}
		return fmt.Sprintf("It is tried again with the same key at %s.", at(op.RetryAt))
	case operations.Stuck:
		return "Nothing happens by itself. A person has to decide."
	}
	return "Nothing more happens. Every repeat is answered from the stored result."
}

// providerURL links a PaymentIntent to where it can be looked at.
func (a *Admin) providerURL(op operations.Operation) string {
	if op.Kind != payments.ChargeKind || op.ProviderRef == nil {
		return ""
	}
	if a.StripeURL != "" {
		return a.StripeURL
	}
	return "https://dashboard.stripe.com/payments/" + *op.ProviderRef
}

// maxShown is how much of a stored JSON value a page shows, in bytes.
const maxShown = 16 << 10

// indent lays JSON out for reading. What is very long, or would become so by
// being laid out, is cut.
func indent(raw json.RawMessage) string {
	if len(raw) == 0 {
		return ""
	}
	text := string(raw)
	var buf bytes.Buffer
	if len(raw) <= maxShown && json.Indent(&buf, raw, "", "  ") == nil && buf.Len() <= 4*maxShown {
		text = buf.String()
	}
	if len(text) > 4*maxShown {
		text = strings.ToValidUTF8(text[:maxShown], "") + fmt.Sprintf("… (%d bytes in all)", len(raw))
	}
	return text
}
