-- Whatever must happen at most once is a row of one table: charges, refunds,
-- receipts, provider events, requests with an idempotency key. One table means
-- one claim statement to prove and one page that shows everything.

-- +goose Up
CREATE TABLE operations (
    op_key          text PRIMARY KEY CHECK (op_key ~ '^[0-9a-f]{64}$'),
    kind            text NOT NULL CHECK (kind <> ''),
    identity        jsonb NOT NULL,
    subject_type    text NOT NULL,
    subject_id      text NOT NULL,
    params          jsonb NOT NULL,
    fingerprint     text NOT NULL CHECK (fingerprint ~ '^[0-9a-f]{64}$'),
    state           text NOT NULL CHECK (state IN ('pending', 'running', 'waiting', 'done', 'stuck')),
    outcome         text CHECK (outcome IN ('succeeded', 'declined', 'failed', 'canceled')),
    fence           bigint NOT NULL DEFAULT 0 CHECK (fence >= 0),
    owner           text,
    lease_until     timestamptz,
    retry_at        timestamptz,
    wait_reason     text,
    start_by        timestamptz NOT NULL,
    due_at          timestamptz GENERATED ALWAYS AS (
                        CASE state WHEN 'pending' THEN start_by
                                   WHEN 'running' THEN lease_until
                                   WHEN 'waiting' THEN retry_at END) STORED,
    first_sent_at   timestamptz,
    outcome_unknown boolean NOT NULL DEFAULT false,
    provider_ref    text,
    result          jsonb,
    error           text,
    claims          bigint NOT NULL DEFAULT 0 CHECK (claims >= 0),
    replays         bigint NOT NULL DEFAULT 0 CHECK (replays >= 0),
    created_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    finished_at     timestamptz,
    CONSTRAINT done_has_an_outcome     CHECK ((state = 'done') = (outcome IS NOT NULL)),
    CONSTRAINT done_has_a_finish       CHECK ((state = 'done') = (finished_at IS NOT NULL)),
    CONSTRAINT running_has_a_holder    CHECK ((state = 'running') = (owner IS NOT NULL)),
    CONSTRAINT running_has_a_lease     CHECK ((state = 'running') = (lease_until IS NOT NULL)),
    CONSTRAINT waiting_has_a_next_time CHECK ((state = 'waiting') = (retry_at IS NOT NULL)),
    CONSTRAINT waiting_has_a_reason    CHECK ((state = 'waiting') = (wait_reason IS NOT NULL)),
    CONSTRAINT stuck_has_a_reason      CHECK (state <> 'stuck' OR error IS NOT NULL),
    CONSTRAINT done_is_known           CHECK (state <> 'done' OR NOT outcome_unknown),
    CONSTRAINT claimed_before_running  CHECK (state <> 'running' OR fence > 0)
) WITH (fillfactor = 70);

-- The sweeper, the countdowns and the definition of "stuck" read this one index.
CREATE INDEX operations_due_at ON operations (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX operations_subject ON operations (subject_type, subject_id);
-- Lists page by key, newest first; never by OFFSET.
CREATE INDEX operations_created_at ON operations (created_at, op_key);
CREATE INDEX operations_stuck ON operations (created_at) WHERE state = 'stuck';

-- The append-only timeline of an operation. It answers "what happened?"
-- without reading logs, and proves under which fence each result was written.
CREATE TABLE operation_events (
    id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    op_key text NOT NULL,
    at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    type   text NOT NULL CHECK (type IN ('planned', 'claimed', 'taken_over', 'provider_call', 'completed',
               'waiting', 'stuck', 'released', 'lease_expired', 'swept', 'fenced_off', 'replayed', 'operator_action')),
    fence  bigint NOT NULL,
    owner  text,
    source text,
    detail jsonb
);
CREATE INDEX operation_events_op_key ON operation_events (op_key, id);
