-- The tables of SyncGuard in MariaDB and MySQL, with the user's rights: SELECT, INSERT and UPDATE on all three, and
-- DELETE on ${syncguard_leases} and ${syncguard_waiters}.
--
-- Flyway runs this file as it is, and Liquibase with its property splitStatements. It changes nothing where the tables
-- are.
-- Keys are bytes: letters that differ in case, in an accent or in a space at the end are different keys.

-- The fence counter of each key. Never delete rows from it: fences would repeat.
CREATE TABLE IF NOT EXISTS ${syncguard_keys} (
    lock_key VARBINARY(512) PRIMARY KEY,
    fence    BIGINT NOT NULL
) ENGINE = InnoDB;

-- Times are milliseconds since 1970, of the server's clock.
CREATE TABLE IF NOT EXISTS ${syncguard_leases} (
    lock_id     VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin PRIMARY KEY,
    lock_key    VARBINARY(512) NOT NULL,
    mode        VARCHAR(9) NOT NULL,
    owner       VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    fence       BIGINT NOT NULL,
    acquired_at BIGINT NOT NULL,
    expires_at  BIGINT NOT NULL,
    -- The process to which the key was handed over, and its waiter.
    channel     VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin,
    waiter      BIGINT NOT NULL,
    INDEX (lock_key),
    INDEX (channel),
    -- Transactions that commit under a lease lock its entry here.
    UNIQUE INDEX pin (acquired_at, lock_id)
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS ${syncguard_waiters} (
    lock_id    VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin PRIMARY KEY,
    lock_key   VARBINARY(512) NOT NULL,
    place      BIGINT NOT NULL,
    mode       VARCHAR(9) NOT NULL,
    permits    INT NOT NULL,
    owner      VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    hand_over  SMALLINT NOT NULL,
    channel    VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin,
    waiter     BIGINT NOT NULL,
    -- How often another process has woken the waiter.
    woken      BIGINT NOT NULL,
    arrived_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    INDEX (lock_key, place),
    INDEX (channel, woken)
) ENGINE = InnoDB;
