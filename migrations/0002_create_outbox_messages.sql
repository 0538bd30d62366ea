-- A fact and the message about it commit together; the relay moves the message
-- on. Rows are taken by status with SKIP LOCKED, never by "id greater than the
-- last one seen": ids are drawn before commit, so a lower id can appear later.

-- +goose Up
CREATE TABLE outbox_messages (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    topic         text NOT NULL CHECK (topic <> ''),
    subject_type  text NOT NULL,
    subject_id    text NOT NULL,
    payload       jsonb NOT NULL,
    created_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    dispatched_at timestamptz,
    attempts      integer NOT NULL DEFAULT 0,
    not_before    timestamptz NOT NULL DEFAULT '-infinity',
    last_error    text
) WITH (fillfactor = 80);

CREATE INDEX outbox_messages_pending ON outbox_messages (id) WHERE dispatched_at IS NULL;
CREATE INDEX outbox_messages_subject ON outbox_messages (subject_type, subject_id);
