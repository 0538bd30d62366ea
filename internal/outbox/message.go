// Package outbox moves a committed fact onward, without knowing what it means.
//
// Append puts a message into the caller's transaction; the relay takes pending
// messages with SKIP LOCKED and hands them to a dispatch function in the
// transaction that marks them. A message is dispatched at least once; those
// who receive it recognise a repeat by the operation that it leads to.
package outbox

import (
	"encoding/json"
	"time"
)

// Topic says what kind of fact a message carries, such as "order.placed".
type Topic string

// Message is a fact on its way.
type Message struct {
	ID          int64           `db:"id"`
	Topic       Topic           `db:"topic"`
	SubjectType string          `db:"subject_type"`
	SubjectID   string          `db:"subject_id"`
	Payload     json.RawMessage `db:"payload"`
	CreatedAt   time.Time       `db:"created_at"`
	Attempts    int             `db:"attempts"` // dispatches that failed so far
}
