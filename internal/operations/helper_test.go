package operations_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"shop/internal/database/dbtest"
	"shop/internal/operations"
)

func intent(t testing.TB, kind string, id, params any) operations.Intent {
	t.Helper()
	in, err := operations.NewIntent(operations.Spec{Kind: kind, Identity: map[string]any{"id": id}, SubjectType: "order",
		SubjectID: "1042", Params: map[string]any{"amount": params}})
	require.NoError(t, err)
	return in
}

func store(pool *pgxpool.Pool, owner string, ttl time.Duration) *operations.Store {
	return operations.NewStore(pool, operations.Options{Owner: owner, TTL: ttl})
}

func newStore(t testing.TB) (*operations.Store, *pgxpool.Pool) {
	pool := dbtest.New(t)
	return store(pool, "worker/1", time.Minute), pool
}

// expire lets the lease of an operation pass by the database's clock, as a long pause would.
func expire(t testing.TB, pool *pgxpool.Pool, key operations.Key) {
	t.Helper()
	tag, err := pool.Exec(context.Background(), `UPDATE operations SET lease_until = clock_timestamp() - interval '1 millisecond'
		WHERE op_key = $1 AND state = 'running'`, key)
	require.NoError(t, err)
	require.EqualValues(t, 1, tag.RowsAffected())
}

func eventTypes(t testing.TB, s *operations.Store, key operations.Key) []string {
	t.Helper()
	events, err := s.Timeline(context.Background(), key)
	require.NoError(t, err)
	types := make([]string, len(events))
	for i, e := range events {
		types[i] = e.Type
	}
	return types
}

func mustClaim(t testing.TB, s *operations.Store, in operations.Intent) *operations.Lease {
	t.Helper()
	lease, done, err := s.Claim(context.Background(), in, operations.ClaimOptions{Source: operations.SourceQueue})
	require.NoError(t, err)
	require.Nil(t, done)
	require.NotNil(t, lease)
	return lease
}
