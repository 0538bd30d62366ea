-- One row per charge that succeeded, written in the transaction that completes
-- the charge operation. The two unique columns turn a second booking of one
-- operation or of one PaymentIntent into an error instead of a second row.

-- +goose Up
CREATE TABLE payments (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    order_id     bigint NOT NULL REFERENCES orders,
    op_key       text NOT NULL UNIQUE REFERENCES operations,
    provider_ref text NOT NULL UNIQUE,
    purpose      text NOT NULL DEFAULT 'balance' CHECK (purpose IN ('balance')),
    amount       bigint NOT NULL CHECK (amount > 0),
    currency     text NOT NULL CHECK (currency ~ '^[a-z]{3}$'),
    created_at   timestamptz NOT NULL DEFAULT clock_timestamp()
);
-- An order is paid for once, whatever happens above this line.
CREATE UNIQUE INDEX payments_one_balance_per_order ON payments (order_id) WHERE purpose = 'balance';
