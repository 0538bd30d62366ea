package outbox

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Append adds a message inside the caller's transaction: the fact and its
// message commit together or not at all.
func Append(ctx context.Context, tx pgx.Tx, topic Topic, subjectType, subjectID string, payload any) error {
	encoded, err := json.Marshal(payload)
	if err != nil {
		return fmt.Errorf("encoding the payload of %s: %w", topic, err)
	}
	if _, err := tx.Exec(ctx, `INSERT INTO outbox_messages (topic, subject_type, subject_id, payload)
		VALUES (@topic, @subject_type, @subject_id, @payload)`, pgx.NamedArgs{
		"topic": topic, "subject_type": subjectType, "subject_id": subjectID, "payload": encoded}); err != nil {
		return fmt.Errorf("appending %s for %s %s: %w", topic, subjectType, subjectID, err)
	}
	return nil
}
