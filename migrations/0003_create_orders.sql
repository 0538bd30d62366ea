-- The shop itself: what is sold, what lies in a cart, and orders whose lines
-- and totals are frozen when they are placed.

-- +goose Up
CREATE TABLE products (
    sku         text PRIMARY KEY CHECK (sku ~ '^[a-z0-9]+(-[a-z0-9]+)*$'),
    name        text NOT NULL,
    tagline     text NOT NULL,
    description text NOT NULL,
    price       bigint NOT NULL CHECK (price > 0),
    currency    text NOT NULL CHECK (currency ~ '^[a-z]{3}$'),
    position    integer NOT NULL
);

-- A cart carries the token of the checkout that it will become. Two tabs, a
-- double click and a resubmission all send the same token and meet one order.
CREATE TABLE carts (
    id             text PRIMARY KEY,
    checkout_token text NOT NULL UNIQUE,
    updated_at     timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX carts_updated_at ON carts (updated_at);

CREATE TABLE cart_lines (
    cart_id  text NOT NULL REFERENCES carts ON DELETE CASCADE,
    sku      text NOT NULL REFERENCES products,
    quantity integer NOT NULL CHECK (quantity BETWEEN 1 AND 20),
    added_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (cart_id, sku)
);

CREATE TABLE orders (
    id             bigint GENERATED ALWAYS AS IDENTITY (START WITH 1001) PRIMARY KEY,
    public_id      text NOT NULL UNIQUE CHECK (public_id ~ '^ord_[0-9a-z]{26}$'),
    checkout_token text NOT NULL UNIQUE,
    email          text NOT NULL,
    name           text NOT NULL,
    currency       text NOT NULL CHECK (currency ~ '^[a-z]{3}$'),
    total          bigint NOT NULL CHECK (total > 0),
    state          text NOT NULL DEFAULT 'placed'
                   CHECK (state IN ('placed', 'paid', 'payment_failed', 'expired', 'needs_review')),
    state_reason   text,
    placed_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    paid_at        timestamptz,
    CONSTRAINT paid_has_a_time CHECK ((state = 'paid') = (paid_at IS NOT NULL))
) WITH (fillfactor = 80);
CREATE INDEX orders_email ON orders (lower(email));

CREATE TABLE order_lines (
    order_id   bigint NOT NULL REFERENCES orders,
    line       integer NOT NULL,
    sku        text NOT NULL,
    name       text NOT NULL,
    unit_price bigint NOT NULL CHECK (unit_price > 0),
    quantity   integer NOT NULL CHECK (quantity BETWEEN 1 AND 20),
    PRIMARY KEY (order_id, line)
);
