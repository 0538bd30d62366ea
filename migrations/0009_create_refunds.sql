-- Money that goes back. A row is made when somebody asks, before the provider
-- is asked, so that two requests at once cannot give back more than was paid:
-- both count under the lock on the payment. A refund that was made at the
-- provider itself has no operation of ours and is entered when it is seen.

-- +goose Up
CREATE TABLE refunds (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    public_id    text NOT NULL UNIQUE CHECK (public_id <> ''),
    order_id     bigint NOT NULL REFERENCES orders,
    payment_id   bigint NOT NULL REFERENCES payments,
    op_key       text UNIQUE,
    provider_ref text UNIQUE,
    amount       bigint NOT NULL CHECK (amount > 0),
    currency     text NOT NULL CHECK (currency ~ '^[a-z]{3}$'),
    state        text NOT NULL CHECK (state IN ('requested', 'succeeded', 'failed')),
    reason       text NOT NULL,
    requested_by text NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    settled_at   timestamptz,
    CONSTRAINT succeeded_is_known_to_the_provider CHECK (state <> 'succeeded' OR provider_ref IS NOT NULL),
    CONSTRAINT open_has_no_settlement CHECK ((state = 'requested') = (settled_at IS NULL))
);
CREATE INDEX refunds_order ON refunds (order_id);
