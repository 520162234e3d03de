-- The tables of schema.sql for MariaDB, and for H2 in its mode for MariaDB.
CREATE TABLE IF NOT EXISTS processed_orders (
    order_id     BIGINT PRIMARY KEY,
    fence        BIGINT NOT NULL,
    processed_at TIMESTAMP NOT NULL DEFAULT now()
);

CREATE TABLE IF NOT EXISTS stock (
    sku       VARCHAR(100) PRIMARY KEY,
    available INTEGER NOT NULL CHECK (available >= 0),
    fence     BIGINT NOT NULL DEFAULT 0
);

INSERT IGNORE INTO stock (sku, available) VALUES ('COFFEE', 100), ('TEA', 10);

CREATE TABLE IF NOT EXISTS prices (
    sku     VARCHAR(100) PRIMARY KEY,
    cents   INTEGER NOT NULL,
    edition BIGINT NOT NULL DEFAULT 0
);

INSERT IGNORE INTO prices (sku, cents) VALUES ('CAKE', 450), ('COFFEE', 320), ('TEA', 280);

CREATE TABLE IF NOT EXISTS ledger (
    account   VARCHAR(100) PRIMARY KEY,
    orders    BIGINT NOT NULL DEFAULT 0,
    fence     BIGINT NOT NULL DEFAULT 0,
    booked_at TIMESTAMP NOT NULL DEFAULT now()
);

INSERT IGNORE INTO ledger (account) VALUES ('sales');
