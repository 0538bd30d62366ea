-- The receipts that left, kept longer than any job queue keeps its rows:
-- River deletes finished jobs after a day, and uniqueness there ends with them.

-- +goose Up
CREATE TABLE receipts (
    id                bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    order_id          bigint NOT NULL REFERENCES orders,
    kind              text NOT NULL CHECK (kind IN ('paid')),
    op_key            text NOT NULL UNIQUE REFERENCES operations,
    message_id        text NOT NULL UNIQUE,
    recipient         text NOT NULL,
    content_hash      text NOT NULL,
    provider_response text NOT NULL,
    sent_at           timestamptz NOT NULL DEFAULT clock_timestamp(),
    UNIQUE (order_id, kind)
);
