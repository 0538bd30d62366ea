package receipts

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"

	"shop/internal/operations"
	"shop/internal/orders"
)

// Config of the receipts.
type Config struct {
	ShopURL string // origin of the shop, for the link to the order
	From    string // sender, such as "Once <orders@once.example>"
	Demo    bool   // says in the mail that no real money moved
}

// Service sends receipts.
type Service struct {
	ops    *operations.Store
	orders *orders.Store
	mailer Mailer
	config Config
	log    *slog.Logger
}

// NewService returns a service that sends through m.
func NewService(ops *operations.Store, os *orders.Store, m Mailer, c Config, log *slog.Logger) *Service {
	return &Service{ops: ops, orders: os, mailer: m, config: c, log: log}
}

// maxClaims bounds how often a receipt is tried before a person looks at it:
// with the backoff below, for about a day.
const maxClaims = 60

// result is the stored answer of a receipt.
type result struct {
	MessageID string `json:"message_id"`
	Response  string `json:"response,omitempty"`
}

// Send sends the receipt with this key once. SMTP has no idempotency key: when
// this process dies between the server's 250 and our commit, the next one sends
// again under the same Message-ID, by which mail programs show one letter.
func (s *Service) Send(ctx context.Context, key operations.Key, o operations.ClaimOptions) error {
	o.Outside = true
	return s.ops.Do(ctx, Kind, key, o, s.send)
}

func (s *Service) send(ctx context.Context, lease *operations.Lease) error {
	var p params
	if err := json.Unmarshal(lease.Params, &p); err != nil {
		return s.ops.StickUnreadable(ctx, lease, err)
	}
	order, err := s.orders.OrderByID(ctx, p.OrderID)
	if err != nil {
		return err
	}
	m, err := s.compose(ctx, lease.Key, order)
	if err != nil {
		return err
	}
	call := operations.Call{Name: "smtp", Key: m.MessageID}
	sendCtx, cancel := context.WithDeadline(ctx, lease.Deadline.Add(-time.Second))
	defer cancel()
	start := time.Now()
	call.Result, err = s.mailer.Send(sendCtx, m)
	call.DurationMS = time.Since(start).Milliseconds()
	if err != nil {
		return s.failed(ctx, lease, call, m, err)
	}
	if err := s.ops.Progress(ctx, lease, call, m.MessageID); err != nil {
		return err
	}
	return s.ops.Complete(ctx, lease, operations.Completion{Outcome: operations.Succeeded, ProviderRef: m.MessageID,
		Result: result{MessageID: m.MessageID, Response: call.Result}}, func(ctx context.Context, tx pgx.Tx) error {
		return insertReceipt(ctx, tx, lease.Key, p, m, call.Result)
	})
}

// failed parks the receipt or gives it up, never twice as much as is known.
func (s *Service) failed(ctx context.Context, lease *operations.Lease, call operations.Call, m Mail, err error) error {
	var sendErr *SendError
	if !errors.As(err, &sendErr) {
		sendErr = &SendError{cause: err}
	}
	call.Problem = err.Error()
	if err := s.ops.Progress(ctx, lease, call, ""); err != nil {
		return err
	}
	switch {
	case sendErr.Permanent:
		s.log.ErrorContext(ctx, "receipt refused", "op_key", lease.Key, "error", err)
		return s.ops.Complete(ctx, lease, operations.Completion{Outcome: operations.Failed,
			Result: result{MessageID: m.MessageID}, Problem: err.Error()}, nil)
	case lease.Claims >= maxClaims:
		return s.ops.Stick(ctx, lease, "the mail server did not take the receipt: "+err.Error(), sendErr.Unknown)
	}
	reason := "mail server busy"
	if sendErr.Unknown {
		reason = "mail server unknown"
	}
	ceiling := min(time.Second<<min(lease.Claims-1, 11), 30*time.Minute)
	return s.ops.Wait(ctx, lease, operations.Wait{After: ceiling/2 + rand.N(ceiling/2), Reason: reason, Unknown: sendErr.Unknown, Problem: err.Error()})
}
