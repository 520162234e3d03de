-- Instances that start together must not create the same table at once: PostgreSQL fails one of two parallel
-- CREATE TABLE IF NOT EXISTS. All statements of this file run on one connection, which holds the advisory lock.
SELECT pg_advisory_lock(54330);

CREATE TABLE IF NOT EXISTS processed_orders (
    order_id     BIGINT PRIMARY KEY,
    fence        BIGINT NOT NULL,
    processed_at TIMESTAMPTZ NOT NULL DEFAULT now()
);

CREATE TABLE IF NOT EXISTS stock (
    sku       TEXT PRIMARY KEY,
    available INTEGER NOT NULL CHECK (available >= 0),
    fence     BIGINT NOT NULL DEFAULT 0
);

INSERT INTO stock (sku, available) VALUES ('COFFEE', 100), ('TEA', 10) ON CONFLICT DO NOTHING;

CREATE TABLE IF NOT EXISTS prices (
    sku     TEXT PRIMARY KEY,
    cents   INTEGER NOT NULL,
    edition BIGINT NOT NULL DEFAULT 0
);

INSERT INTO prices (sku, cents) VALUES ('CAKE', 450), ('COFFEE', 320), ('TEA', 280) ON CONFLICT DO NOTHING;

CREATE TABLE IF NOT EXISTS ledger (
    account   TEXT PRIMARY KEY,
    orders    BIGINT NOT NULL DEFAULT 0,
    fence     BIGINT NOT NULL DEFAULT 0,
    booked_at TIMESTAMPTZ NOT NULL DEFAULT now()
);

INSERT INTO ledger (account) VALUES ('sales') ON CONFLICT DO NOTHING;

SELECT pg_advisory_unlock(54330);
