package operations

import (
	"context"
	"errors"
	"fmt"
)

// Do is the one door to an effect beyond the database: the first delivery, a
// repeat, a retry after a crash and an operator's click all come in here. It
// claims the operation and lets work move it as far as it can go now; work ends
// with Complete, Wait, Stick or Release.
//
// An operation that is done is counted as a repeat; one that is held, not due
// or stuck is left alone; a lease that is lost on the way is somebody else's
// business now, and whatever was done at the provider they find under the same
// keys. None of these is an error, except an early look at an operation that is
// held: its holder may have asked before the answer came, so the look has to be
// repeated, and ErrLeaseHeld says so.
//
// A key of an operation of another kind is an error: its parameters would be
// read as something that they are not.
func (s *Store) Do(ctx context.Context, kind string, key Key, o ClaimOptions, work func(ctx context.Context, l *Lease) error) error {
	op, err := s.Get(ctx, key)
	if err != nil {
		return err
	}
	if op.Kind != kind {
		return fmt.Errorf("operation %s is a %s and not a %s", key, op.Kind, kind)
	}
	lease, done, err := s.Claim(ctx, op.Intent(), o)
	switch {
	case done != nil:
		return nil
	case errors.Is(err, ErrLeaseHeld) && o.Early:
		return err
	case errors.Is(err, ErrLeaseHeld), errors.Is(err, ErrNotDue), errors.Is(err, ErrStuck):
		s.log.InfoContext(ctx, "operation left alone", "kind", op.Kind, "op_key", key, "why", err)
		return nil
	case err != nil:
		return err
	}
	err = work(ctx, lease)
	if errors.Is(err, ErrLeaseLost) {
		s.log.WarnContext(ctx, "operation taken over", "kind", op.Kind, "op_key", key, "fence", lease.Fence)
		return nil
	}
	return err
}

// StickUnreadable gives an operation to a person whose stored parameters this
// program cannot read.
func (s *Store) StickUnreadable(ctx context.Context, l *Lease, err error) error {
	return s.Stick(ctx, l, fmt.Sprintf("the stored parameters cannot be read: %v", err), l.SentBefore)
}
