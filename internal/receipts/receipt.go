// Package receipts tells a shopper once that an order is paid.
package receipts

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"shop/internal/operations"
	"shop/internal/orders"
	"shop/templates"
)

// Kind is the kind of the operation that sends a receipt.
const Kind = "receipt-email"

// receiptPaid is the receipt for an order that has been paid.
const receiptPaid = "paid"

// identity is what a receipt is: there is one for an order.
type identity struct {
	OrderID int64 `json:"orderId"`
}

// params are frozen with the operation. The address and the lines are those of
// the order, which never change, so they are not copied here.
type params struct {
	OrderID int64  `json:"order_id"`
	Receipt string `json:"receipt"`
}

// Intent turns the payload of order.paid into the receipt that it asks for.
func Intent(payload []byte) (operations.Intent, error) {
	var s orders.Settlement
	if err := json.Unmarshal(payload, &s); err != nil {
		return operations.Intent{}, fmt.Errorf("reading an order.paid message: %w", err)
	}
	return operations.NewIntent(operations.Spec{Kind: Kind, Identity: identity{OrderID: s.OrderID},
		SubjectType: orders.SubjectType, SubjectID: fmt.Sprint(s.OrderID),
		Params: params{OrderID: s.OrderID, Receipt: receiptPaid}})
}

// Mail is a message ready to be sent.
type Mail struct {
	MessageID  string // without angle brackets; the same on every repeat
	To, ToName string
	Subject    string
	HTML, Text string
}

// hash names the content, so that the ledger can say what was sent.
func (m Mail) hash() string {
	sum := sha256.Sum256([]byte(m.Subject + "\x00" + m.Text + "\x00" + m.HTML))
	return hex.EncodeToString(sum[:])
}

// compose writes the receipt of an order. Everything in it comes from the
// frozen order, so that a repeat is the same letter under the same Message-ID.
func (s *Service) compose(ctx context.Context, key operations.Key, o orders.Order) (Mail, error) {
	view := templates.ReceiptView{Number: fmt.Sprint(o.ID), PublicID: o.PublicID, Name: o.Name, Total: o.Total,
		OrderURL: s.config.ShopURL + "/orders/" + o.PublicID, Demo: s.config.Demo}
	if o.PaidAt != nil {
		view.PaidAt = *o.PaidAt
	}
	for _, l := range o.Lines {
		view.Lines = append(view.Lines, templates.LineView{SKU: l.SKU, Name: l.Name, Quantity: l.Quantity,
			UnitPrice: l.UnitPrice, Total: l.Total})
	}
	var html bytes.Buffer
	if err := templates.ReceiptEmailHTML(view).Render(ctx, &html); err != nil {
		return Mail{}, fmt.Errorf("rendering the receipt of order %d: %w", o.ID, err)
	}
	_, domain, _ := strings.Cut(s.config.From, "@")
	return Mail{MessageID: string(key) + "@" + strings.TrimRight(domain, "> "), To: o.Email, ToName: o.Name,
		Subject: templates.ReceiptSubject(view), HTML: html.String(), Text: templates.ReceiptText(view)}, nil
}
