// Package access knows who may come in: one-time sign-in links for the
// dashboard and keys for programs. It stores hashes only.
package access

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"shop/internal/apperr"
)

// Errors of a sign-in link.
var (
	ErrLinkUsed    = errors.New("the sign-in link has been used")
	ErrLinkExpired = errors.New("the sign-in link has expired or never existed")
)

// Store keeps links and keys in PostgreSQL.
type Store struct{ pool *pgxpool.Pool }

// NewStore returns a store on a pool.
func NewStore(pool *pgxpool.Pool) *Store { return &Store{pool: pool} }

// hash is enough for secrets that are random to begin with; passwords would need more.
func hash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// AddLink makes a one-time sign-in link for actor. Adding the same token again
// changes nothing: a link that was used stays used.
func (s *Store) AddLink(ctx context.Context, token, actor string, life time.Duration) error {
	if _, err := s.pool.Exec(ctx, `INSERT INTO sign_in_links (token_hash, actor, expires_at)
		VALUES ($1, $2, clock_timestamp() + make_interval(secs => $3)) ON CONFLICT (token_hash) DO NOTHING`,
		hash(token), actor, life.Seconds()); err != nil {
		return fmt.Errorf("adding a sign-in link: %w", err)
	}
	return nil
}

// UseLink spends a link and returns whose it is. Of two who use it at once,
// one gets in.
func (s *Store) UseLink(ctx context.Context, token string) (actor string, err error) {
	err = s.pool.QueryRow(ctx, `UPDATE sign_in_links SET used_at = clock_timestamp()
		WHERE token_hash = $1 AND used_at IS NULL AND expires_at > clock_timestamp() RETURNING actor`, hash(token)).Scan(&actor)
	if err == nil {
		return actor, nil
	}
	if !errors.Is(err, pgx.ErrNoRows) {
		return "", fmt.Errorf("using a sign-in link: %w", err)
	}
	var used bool
	if err := s.pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM sign_in_links WHERE token_hash = $1 AND used_at IS NOT NULL)`,
		hash(token)).Scan(&used); err != nil {
		return "", fmt.Errorf("looking up a sign-in link: %w", err)
	}
	if used {
		return "", ErrLinkUsed
	}
	return "", ErrLinkExpired
}

// Credential is a program that showed a valid key.
type Credential struct {
	ID       string // names the key without giving it away
	Merchant string
}

// AddKey lets a program in. Adding the same key again changes nothing.
func (s *Store) AddKey(ctx context.Context, key, merchant string) error {
	if _, err := s.pool.Exec(ctx, `INSERT INTO api_keys (key_hash, merchant) VALUES ($1, $2) ON CONFLICT (key_hash) DO NOTHING`,
		hash(key), merchant); err != nil {
		return fmt.Errorf("adding an API key: %w", err)
	}
	return nil
}

// CheckKey says whose key it is; an Unauthorized error when it is nobody's.
func (s *Store) CheckKey(ctx context.Context, key string) (Credential, error) {
	c := Credential{ID: hash(key)}
	err := s.pool.QueryRow(ctx, `SELECT merchant FROM api_keys WHERE key_hash = $1 AND revoked_at IS NULL`, c.ID).Scan(&c.Merchant)
	if errors.Is(err, pgx.ErrNoRows) {
		return Credential{}, apperr.New(apperr.Unauthorized, "The API key is not valid. Send it as Authorization: Bearer KEY.")
	}
	if err != nil {
		return Credential{}, fmt.Errorf("checking an API key: %w", err)
	}
	return c, nil
}
