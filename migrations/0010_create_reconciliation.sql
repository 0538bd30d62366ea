-- What a comparison with the provider has found and could not put right by
-- itself, and how far it has read.

-- +goose Up
CREATE TABLE reconciliation_cursors (
    name text PRIMARY KEY,
    at   timestamptz NOT NULL
);

-- Money that no order of ours asked for. It is listed for a person and never
-- booked by guesswork.
CREATE TABLE orphan_payments (
    provider_ref text PRIMARY KEY,
    amount       bigint NOT NULL,
    currency     text NOT NULL,
    created_at   timestamptz NOT NULL,
    seen_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    note         text NOT NULL
);
