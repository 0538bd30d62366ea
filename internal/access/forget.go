package access

import (
	"context"
	"fmt"
)

// Forget deletes sign-in links and sessions that have been over for a day.
func (s *Store) Forget(ctx context.Context, limit int) (int, error) {
	n := 0
	for _, sql := range []string{
		`DELETE FROM sign_in_links WHERE token_hash IN (SELECT token_hash FROM sign_in_links
			WHERE expires_at < clock_timestamp() - interval '1 day' LIMIT $1)`,
		`DELETE FROM sessions WHERE token IN (SELECT token FROM sessions WHERE expiry < clock_timestamp() - interval '1 day' LIMIT $1)`,
	} {
		tag, err := s.pool.Exec(ctx, sql, limit)
		if err != nil {
			return n, fmt.Errorf("forgetting what has expired: %w", err)
		}
		n += int(tag.RowsAffected())
	}
	return n, nil
}
