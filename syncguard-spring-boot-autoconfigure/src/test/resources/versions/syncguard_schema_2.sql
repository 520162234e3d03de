-- The tables and functions of SyncGuard on PostgreSQL 12 and later. May be run again and again, also while older instances run.
--
-- ${syncguard_locks} and ${syncguard_fence_counters} are the table names, with a schema in front if you like. Flyway and
-- Liquibase put them in as placeholders of these names; for psql, let sed do it:
--   sed -e 's/${syncguard_locks}/syncguard_locks/g' -e 's/${syncguard_fence_counters}/syncguard_fence_counters/g' THIS_FILE | psql
--
-- Which race each predicate closes: docs/postgresql.md.

-- One row per lease. A lease is live while expires_at_ms is less than a second ago.
CREATE TABLE IF NOT EXISTS ${syncguard_locks} (
    key            TEXT COLLATE "C" PRIMARY KEY,
    lock_id        TEXT COLLATE "C" NOT NULL UNIQUE,
    expires_at_ms  BIGINT NOT NULL,
    acquired_at_ms BIGINT NOT NULL,
    fence          TEXT NOT NULL,
    user_key       TEXT NOT NULL,
    owner          TEXT
);

-- One row per key that was ever locked, also its serialising row. NEVER delete one: a fence that is used twice protects nothing.
CREATE TABLE IF NOT EXISTS ${syncguard_fence_counters} (
    fence_key TEXT COLLATE "C" PRIMARY KEY,
    fence     BIGINT NOT NULL DEFAULT 0,
    key_debug TEXT
) WITH (fillfactor = 70);

-- Only where it is missing: CREATE INDEX IF NOT EXISTS locks the table even when there is nothing to do.
DO $do$
BEGIN
    IF NOT EXISTS (
        SELECT FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
        WHERE i.indrelid = '${syncguard_locks}'::regclass AND a.attname = 'expires_at_ms'
    ) THEN
        CREATE INDEX ON ${syncguard_locks} (expires_at_ms);
    END IF;
END
$do$;

-- The clock that judges every lease, in milliseconds. Read after a row lock was won; now() would be the start of the transaction.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_now() RETURNS BIGINT
LANGUAGE sql VOLATILE AS $function$
    SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::BIGINT
$function$;

-- One attempt. granted_fence is null when it is refused, and 0 when the counter is at its end.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_acquire(
    p_key TEXT, p_fence_key TEXT, p_lock_id TEXT, p_ttl_ms BIGINT, p_user_key TEXT, p_owner TEXT,
    OUT granted_fence BIGINT, OUT granted_at_ms BIGINT, OUT granted_until_ms BIGINT, OUT time_left_ms BIGINT
)
LANGUAGE plpgsql AS $function$
DECLARE
    v_now     BIGINT;
    v_expires BIGINT;
    v_fence   BIGINT;
BEGIN
    -- A first look without any lock: an attempt that is refused writes nothing.
    SELECT l.expires_at_ms INTO v_expires FROM ${syncguard_locks} l WHERE l.key = p_key;
    IF FOUND THEN
        v_now := ${syncguard_locks}_now();
        IF v_expires > v_now - 1000 THEN
            time_left_ms := v_expires + 1000 - v_now;
            RETURN;
        END IF;
    END IF;

    -- Win the serialising row, by drawing the fence. From here to the commit nobody else can grant this key.
    UPDATE ${syncguard_fence_counters} c SET fence = c.fence + 1
    WHERE c.fence_key = p_fence_key AND c.fence < 900000000000000
    RETURNING c.fence INTO v_fence;
    IF NOT FOUND THEN
        INSERT INTO ${syncguard_fence_counters} AS c (fence_key, fence, key_debug) VALUES (p_fence_key, 1, p_user_key)
        ON CONFLICT (fence_key) DO UPDATE SET fence = c.fence + 1 WHERE c.fence < 900000000000000
        RETURNING c.fence INTO v_fence;
        IF NOT FOUND THEN
            granted_fence := 0;
            RETURN;
        END IF;
    END IF;

    -- Look again, in a fresh snapshot and by a clock read after the wait for the row.
    v_now := ${syncguard_locks}_now();
    SELECT l.expires_at_ms INTO v_expires FROM ${syncguard_locks} l WHERE l.key = p_key;
    IF FOUND THEN
        -- A lapsed lease is deleted, never passed over: an extension that is still under way would revive it beside ours.
        -- Who has it locked may be committing under it, and is not waited for.
        DELETE FROM ${syncguard_locks} l WHERE l.key = (
            SELECT s.key FROM ${syncguard_locks} s
            WHERE s.key = p_key AND s.expires_at_ms <= v_now - 1000
            FOR UPDATE SKIP LOCKED
        );
        IF NOT FOUND THEN
            -- Somebody was faster, or pins the lapsed lease. Give the fence back while nobody can see it; nothing here is
            -- worth waiting for the disk.
            PERFORM set_config('synchronous_commit', 'off', true);
            UPDATE ${syncguard_fence_counters} c SET fence = c.fence - 1 WHERE c.fence_key = p_fence_key;
            time_left_ms := greatest(v_expires + 1000 - v_now, 50 + floor(random() * 50)::BIGINT);
            RETURN;
        END IF;
    END IF;

    granted_fence := v_fence;
    granted_at_ms := v_now;
    granted_until_ms := v_now + p_ttl_ms;
    INSERT INTO ${syncguard_locks} (key, lock_id, expires_at_ms, acquired_at_ms, fence, user_key, owner)
    VALUES (p_key, p_lock_id, granted_until_ms, granted_at_ms, lpad(v_fence::TEXT, 15, '0'), p_user_key, p_owner);
END
$function$;

-- Answers 'released', 'busy', or why there is nothing to release: 'expired' or 'not_found'.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_release(p_lock_id TEXT) RETURNS TEXT
LANGUAGE plpgsql AS $function$
DECLARE
    v_key     TEXT;
    v_expires BIGINT;
BEGIN
    SELECT l.key INTO v_key FROM ${syncguard_locks} l WHERE l.lock_id = p_lock_id;
    IF NOT FOUND THEN
        RETURN 'not_found';
    END IF;

    -- A release that is lost in a crash only means that the ttl runs out: it need not wait for the disk. Whatever is granted
    -- after it is flushed together with it, because the log is written in order.
    PERFORM set_config('synchronous_commit', 'off', true);

    -- The serialising row first, like everybody who changes the grants of a key. PostgreSQL keeps a key as it is, never hashed:
    -- a key has at most 512 bytes, and 1700 fit.
    PERFORM 1 FROM ${syncguard_fence_counters} c WHERE c.fence_key = 'fence:' || v_key FOR NO KEY UPDATE;

    -- The lock id again, now that the row is locked: the lease may be somebody else's by now. The clock, too, is read here.
    DELETE FROM ${syncguard_locks} l WHERE l.key = (
        SELECT s.key FROM ${syncguard_locks} s
        WHERE s.lock_id = p_lock_id AND s.expires_at_ms > ${syncguard_locks}_now() - 1000
        FOR UPDATE SKIP LOCKED
    );
    IF FOUND THEN
        RETURN 'released';
    END IF;
    SELECT l.expires_at_ms INTO v_expires FROM ${syncguard_locks} l WHERE l.lock_id = p_lock_id;
    RETURN CASE
               WHEN NOT FOUND THEN 'not_found'
               WHEN v_expires > ${syncguard_locks}_now() - 1000 THEN 'busy'
               ELSE 'expired'
           END;
END
$function$;

-- Many leases at once, answered one by one in the order asked: 'extended' with the new end, 'busy', 'expired' or 'not_found'.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_extend(p_lock_ids TEXT[], p_ttls_ms BIGINT[])
RETURNS TABLE (outcome TEXT, extended_until_ms BIGINT)
LANGUAGE plpgsql AS $function$
BEGIN
    -- In quotes and with a capital, which no table name has: a table may be called "free".
    RETURN QUERY
    WITH "Wanted" AS (
        SELECT w.lock_id, w.ttl_ms, w.position
        FROM unnest(p_lock_ids, p_ttls_ms) WITH ORDINALITY AS w (lock_id, ttl_ms, position)
    ), "Free" AS (
        -- The weakest lock that an update takes: it passes a guarded commit that pins the row by FOR KEY SHARE. One row that
        -- is locked otherwise does not hold up the rest.
        SELECT l.key, l.lock_id
        FROM "Wanted" w JOIN ${syncguard_locks} l ON l.lock_id = w.lock_id
        FOR NO KEY UPDATE OF l SKIP LOCKED
    ), "Extended" AS (
        -- The clock is read here, with the row lock won: what has lapsed meanwhile is not revived.
        UPDATE ${syncguard_locks} l SET expires_at_ms = ${syncguard_locks}_now() + w.ttl_ms
        FROM "Free" f JOIN "Wanted" w ON w.lock_id = f.lock_id
        WHERE l.key = f.key AND l.expires_at_ms > ${syncguard_locks}_now() - 1000
        RETURNING l.lock_id, l.expires_at_ms
    )
    SELECT CASE
               WHEN e.lock_id IS NOT NULL THEN 'extended'
               WHEN l.lock_id IS NULL THEN 'not_found'
               WHEN f.lock_id IS NULL AND l.expires_at_ms > ${syncguard_locks}_now() - 1000 THEN 'busy'
               ELSE 'expired'
           END,
           e.expires_at_ms
    FROM "Wanted" w
    LEFT JOIN "Free" f ON f.lock_id = w.lock_id
    LEFT JOIN "Extended" e ON e.lock_id = w.lock_id
    LEFT JOIN ${syncguard_locks} l ON l.lock_id = w.lock_id
    ORDER BY w.position;
END
$function$;

-- Deletes those leases of these keys that lapsed more than two seconds ago, and answers how many. Counters are out of its reach.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_sweep(p_keys TEXT[]) RETURNS INTEGER
LANGUAGE plpgsql AS $function$
DECLARE
    v_keys  TEXT[];
    v_swept INTEGER;
BEGIN
    -- Lost in a crash, it is done again.
    PERFORM set_config('synchronous_commit', 'off', true);

    -- The serialising rows first, like everybody who changes the grants of a key: whoever acquires one of these keys waits for
    -- this short transaction, and does not mistake the row that is being deleted for contention. What is in use is left alone.
    v_keys := ARRAY(
        SELECT k.key
        FROM unnest(p_keys) AS k (key) JOIN ${syncguard_fence_counters} c ON c.fence_key = 'fence:' || k.key
        ORDER BY c.fence_key
        FOR NO KEY UPDATE OF c SKIP LOCKED
    );

    -- In a fresh snapshot and by a clock read now: one of them may have been granted again meanwhile.
    DELETE FROM ${syncguard_locks} l WHERE l.key = ANY (ARRAY(
        SELECT s.key FROM ${syncguard_locks} s
        WHERE s.key = ANY (v_keys) AND s.expires_at_ms < ${syncguard_locks}_now() - 2000
        FOR UPDATE SKIP LOCKED
    ));
    GET DIAGNOSTICS v_swept = ROW_COUNT;
    RETURN v_swept;
END
$function$;

-- What the library asks at its start. It works with this version and later ones; raised when it needs something new from here.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_version() RETURNS INTEGER
LANGUAGE sql IMMUTABLE AS $function$
    SELECT 2
$function$;
