-- Who may come in: one-time sign-in links and sessions for the dashboard, keys
-- for programs. Only hashes are stored, so a copy of the database opens nothing.

-- +goose Up
CREATE TABLE sign_in_links (
    token_hash text PRIMARY KEY,
    actor      text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires_at timestamptz NOT NULL,
    used_at    timestamptz
);

CREATE TABLE sessions (
    token  text PRIMARY KEY,
    data   bytea NOT NULL,
    expiry timestamptz NOT NULL
);
CREATE INDEX sessions_expiry ON sessions (expiry);

CREATE TABLE api_keys (
    key_hash     text PRIMARY KEY,
    merchant     text NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    revoked_at   timestamptz
);
