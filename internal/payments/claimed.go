package payments

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"shop/internal/operations"
)

// claimed is an operation that we hold and that needs the provider.
type claimed struct {
	ops     *operations.Store
	gateway *Gateway
	lease   *operations.Lease
}

// leaseMargin is what must be left of a lease after the slowest call, to record its answer.
const leaseMargin = 2 * time.Second

// send makes one call inside the lease and records it; do returns the
// provider's name for the effect. No transaction is open. A crash before the
// answer leaves the key in use: the next holder repeats it. A crash between the
// answer and the record does the same.
func (c claimed) send(ctx context.Context, do func(context.Context) (ref string, call operations.Call, err error)) error {
	if time.Until(c.lease.Deadline) < c.gateway.Timeout()+leaseMargin {
		if err := c.ops.Heartbeat(ctx, c.lease); err != nil {
			return err
		}
	}
	callCtx, cancel := context.WithDeadline(ctx, c.lease.Deadline.Add(-leaseMargin))
	defer cancel()
	ref, call, err := do(callCtx)
	if problem, ok := errors.AsType[*ProviderError](err); ok && problem.Paused {
		return err // nothing was sent, so there is nothing to record
	}
	if recordErr := c.ops.Progress(ctx, c.lease, call, ref); recordErr != nil {
		return recordErr
	}
	return err
}

// park gives the operation back until later, by what is known of its outcome.
func (c claimed) park(ctx context.Context, verdict Verdict, problem *ProviderError) error {
	w := operations.Wait{After: backoff(c.lease.Claims), Reason: "provider busy", Problem: problem.Error()}
	switch verdict {
	case VerdictPaused:
		// Nothing was sent: what was unknown before is unknown still.
		w.After, w.Reason, w.Unknown = openFor/2+rand.N(openFor), "provider unavailable", c.lease.OutcomeUnknown
	case VerdictUnknown:
		w.Reason, w.Unknown = "provider unknown", true
	}
	return c.ops.Wait(ctx, c.lease, w)
}

// backoff grows from a second to a minute with the number of claims, with full
// jitter (Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog 2015)
// over its upper half.
func backoff(claims int64) time.Duration {
	ceiling := min(time.Second<<min(claims-1, 6), time.Minute)
	return ceiling/2 + rand.N(ceiling/2)
}
