-- The tables and functions of SyncGuard on PostgreSQL 12 and later. This script may be run repeatedly, also while older
-- instances run.
--
-- ${syncguard_locks} and ${syncguard_fence_counters} are the table names, with an optional schema in front;
-- ${syncguard_fence_source} is counter or clock. Flyway and Liquibase replace the placeholders of these names; for
-- psql, sed does:
--   sed -E 's/[$][{](syncguard_(locks|fence_counters))}/\1/g; s/[$][{]syncguard_fence_source}/counter/g' FILE | psql
-- An application with the property syncguard.postgres.schema-script writes it with the names of its tables.
--
-- A user that only locks needs these rights, and EXECUTE on the functions, which every user has by default:
--   GRANT SELECT, INSERT, UPDATE, DELETE ON ${syncguard_locks}, ${syncguard_locks}_shared TO ...
--   GRANT SELECT, INSERT, UPDATE, DELETE ON ${syncguard_locks}_waiters TO ...
--   GRANT SELECT, INSERT, UPDATE, DELETE ON ${syncguard_fence_counters} TO ... (DELETE only for fences by the clock)
--
-- docs/postgresql.md has the overview. Rules for all functions:
-- * A plan that was cached while the tables were empty stays in use while they grow. Such a plan must not join tables:
--   it would read all their rows. So the functions find many rows by = ANY (ARRAY(...)), or one by one in a subquery
--   that OFFSET 0 or a row lock separates.
-- * Each statement in a VOLATILE function sees what was committed before it began. A function that looks again under a
--   row lock must stay VOLATILE.
-- * The planner inlines the first functions, which are in SQL, so they cost nothing. They must stay one expression, and
--   STABLE: the planner would run an IMMUTABLE one, as a statement, whenever its arguments are known.
-- * The others are called by an assignment if they are called often: PERFORM is a statement of its own.
-- * Somebody else may be allowed to create functions and operators in the schema of the tables, as in "public" before
--   PostgreSQL 15, and PostgreSQL prefers one whose parameters fit a call better. The sessions of the library look into
--   pg_catalog first. So each call has the types of the parameters exactly, and is then resolved in pg_catalog or to a
--   function of this script; a call that has not, such as one with a parameter of any type, names pg_catalog. The DO
--   blocks and the tables name it always: they run under the search path of the session that runs the script.
-- * The name of the table may have 48 bytes of 63, so a suffix has 15 at most. The table may be called "wanted": CTEs
--   and record variables are in quotes and have a capital.

-- Refuses the change from clock to counter: a counter that was forgotten would begin at 1 again. Refuses a search path on
-- which other types are in front of those of PostgreSQL.
DO $do$
BEGIN
    IF NOT pg_catalog.pg_type_is_visible('pg_catalog.text'::pg_catalog.regtype) THEN
        RAISE EXCEPTION 'The search path finds another type TEXT in front of that of PostgreSQL'
        USING ERRCODE = 'invalid_parameter_value', HINT = 'Put pg_catalog first in the search path.';
    END IF;
    IF '${syncguard_fence_source}' OPERATOR(pg_catalog.<>) 'counter'
        AND '${syncguard_fence_source}' OPERATOR(pg_catalog.<>) 'clock'
    THEN
        RAISE EXCEPTION 'syncguard_fence_source has to be counter or clock, not ${syncguard_fence_source}'
        USING ERRCODE = 'invalid_parameter_value';
    ELSIF '${syncguard_fence_source}' OPERATOR(pg_catalog.=) 'counter' AND EXISTS (
        SELECT FROM pg_catalog.pg_proc
        WHERE oid OPERATOR(pg_catalog.=) pg_catalog.to_regprocedure('${syncguard_locks}_fence_source()')
            AND prosrc OPERATOR(pg_catalog.~~) '%''clock''%'
    ) THEN
        RAISE EXCEPTION 'The fences of ${syncguard_locks} come from the clock and cannot come from counters again'
        USING ERRCODE = 'invalid_parameter_value',
              HINT = 'Counters that were forgotten would begin at 1. Set syncguard_fence_source to clock.';
    END IF;
END
$do$;

-- One row per exclusive lease.
CREATE TABLE IF NOT EXISTS ${syncguard_locks} (
    key            TEXT COLLATE pg_catalog."C" PRIMARY KEY,
    lock_id        TEXT COLLATE pg_catalog."C" NOT NULL UNIQUE,
    expires_at_ms  BIGINT NOT NULL,
    acquired_at_ms BIGINT NOT NULL,
    fence          TEXT NOT NULL,
    user_key       TEXT NOT NULL,
    owner          TEXT
);

-- One row per shared lease.
CREATE TABLE IF NOT EXISTS ${syncguard_locks}_shared (
    lock_id        TEXT COLLATE pg_catalog."C" PRIMARY KEY,
    key            TEXT COLLATE pg_catalog."C" NOT NULL,
    expires_at_ms  BIGINT NOT NULL,
    acquired_at_ms BIGINT NOT NULL,
    fence          TEXT NOT NULL,
    user_key       TEXT NOT NULL,
    owner          TEXT
);

-- One row per queue entry: the waiters of all keys, in order of arrival. An entry is leased for ttl_ms from each
-- renewal, without a tolerance. A wake-up is the waiter's number on the channel of its process; the channel is null if
-- the process polls. With hand_over, a release may grant the key to the entry for ttl_ms; that message carries the
-- secret, because every user may notify.
CREATE TABLE IF NOT EXISTS ${syncguard_locks}_waiters (
    lock_id       TEXT COLLATE pg_catalog."C" PRIMARY KEY,
    key           TEXT COLLATE pg_catalog."C" NOT NULL,
    arrival       BIGINT NOT NULL GENERATED ALWAYS AS IDENTITY,
    arrived_at_ms BIGINT NOT NULL,
    shared        BOOLEAN NOT NULL,
    expires_at_ms BIGINT NOT NULL,
    ttl_ms        BIGINT NOT NULL,
    hand_over     BOOLEAN NOT NULL,
    channel       TEXT,
    waiter        BIGINT NOT NULL,
    owner         TEXT,
    secret        TEXT
) WITH (fillfactor = 70);

-- One row per key that was ever locked; it is also the key's serialising row. NEVER delete one by hand: a fence that is
-- used twice protects nothing. Only _forget does, with fences by the clock: a key without leases and queue entries.
CREATE TABLE IF NOT EXISTS ${syncguard_fence_counters} (
    fence_key TEXT COLLATE pg_catalog."C" PRIMARY KEY,
    fence     BIGINT NOT NULL DEFAULT 0,
    key_debug TEXT
) WITH (fillfactor = 70);

-- Creates missing indexes. CREATE INDEX IF NOT EXISTS would lock its table even if the index exists.
DO $do$
DECLARE
    "Wanted" RECORD;
BEGIN
    FOR "Wanted" IN
        SELECT w.table_name::pg_catalog.regclass AS table_name, w.columns, w.names
        FROM (VALUES
            ('${syncguard_locks}', 'expires_at_ms', ARRAY['expires_at_ms']),
            ('${syncguard_locks}_shared', 'expires_at_ms', ARRAY['expires_at_ms']),
            ('${syncguard_locks}_shared', 'key, expires_at_ms', ARRAY['key', 'expires_at_ms']),
            ('${syncguard_locks}_waiters', 'key, arrival', ARRAY['key', 'arrival'])
        ) AS w (table_name, columns, names)
    LOOP
        IF NOT EXISTS (
            SELECT FROM pg_catalog.pg_index i
            WHERE i.indrelid OPERATOR(pg_catalog.=) "Wanted".table_name AND "Wanted".names OPERATOR(pg_catalog.=) ARRAY(
                SELECT a.attname::TEXT FROM pg_catalog.unnest(i.indkey) WITH ORDINALITY AS k (attnum, position)
                JOIN pg_catalog.pg_attribute a
                    ON a.attrelid OPERATOR(pg_catalog.=) i.indrelid AND a.attnum OPERATOR(pg_catalog.=) k.attnum
                ORDER BY k.position
            )
        ) THEN
            EXECUTE pg_catalog.format('CREATE INDEX ON %s (%s)', "Wanted".table_name, "Wanted".columns);
        END IF;
    END LOOP;
END
$do$;

-- How long the store keeps a lapsed lease from others.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_tolerance() RETURNS BIGINT
LANGUAGE sql STABLE AS $function$
    SELECT 1000::BIGINT
$function$;

-- The largest fence. A larger one would have 16 digits and no longer sort as text.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_last_fence() RETURNS BIGINT
LANGUAGE sql STABLE AS $function$
    SELECT 900000000000000
$function$;

-- A fence as leases store it.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_fence_text(p_fence BIGINT) RETURNS TEXT
LANGUAGE sql STABLE AS $function$
    SELECT pg_catalog.lpad(p_fence::TEXT, 15, '0')
$function$;

-- The fence key of a key. PostgreSQL keeps a key as it is: a key has at most 512 bytes, and an index takes 2700.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_fence_key(p_key TEXT) RETURNS TEXT
LANGUAGE sql STABLE AS $function$
    SELECT 'fence:' || p_key
$function$;

-- The key of a fence key.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_key_of_fence(p_fence_key TEXT) RETURNS TEXT
LANGUAGE sql STABLE AS $function$
    SELECT pg_catalog.substr(p_fence_key, 1 + pg_catalog.length(${syncguard_locks}_fence_key(''::TEXT)))
$function$;

-- The table of fence counters that these functions use. The library compares it with its own setting at the start.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_fence_counters() RETURNS TEXT
LANGUAGE sql IMMUTABLE AS $function$
    SELECT '${syncguard_fence_counters}'
$function$;

-- Where fences come from, counter or clock. The library compares it with its own setting at the start.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_fence_source() RETURNS TEXT
LANGUAGE sql STABLE AS $function$
    SELECT '${syncguard_fence_source}'
$function$;

-- The fence after this one. By the clock it is at least a hundred times its milliseconds, so it is also larger than the
-- fences that a lost counter has given. The clock alone gives no larger fence than 810000000000000, in the year 2226: a
-- clock that stood far in the future leaves fences for the time when it is right again. Every fence is drawn by this
-- function.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_fence_after(p_fence BIGINT, p_now_ms BIGINT) RETURNS BIGINT
LANGUAGE sql STABLE AS $function$
    SELECT CASE ${syncguard_locks}_fence_source()
               WHEN 'clock' THEN greatest(p_fence + 1, least(p_now_ms * 100, 810000000000000))
               ELSE p_fence + 1
           END
$function$;

-- The clock that judges every lease, in milliseconds. It is read under the row lock; now() would be the start of the
-- transaction.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_now() RETURNS BIGINT
LANGUAGE sql VOLATILE AS $function$
    SELECT pg_catalog.floor(extract(epoch FROM pg_catalog.clock_timestamp())::NUMERIC * 1000::NUMERIC)::BIGINT
$function$;

-- Whether a lease with this expiry is live at this time.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_is_live(p_expires_at_ms BIGINT, p_now_ms BIGINT) RETURNS BOOLEAN
LANGUAGE sql STABLE AS $function$
    SELECT p_expires_at_ms > p_now_ms - ${syncguard_locks}_tolerance()
$function$;

-- The cleanup deletes leases that expired before this time: twice the tolerance ago.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_sweep_before() RETURNS BIGINT
LANGUAGE sql VOLATILE AS $function$
    SELECT ${syncguard_locks}_now() - 2 * ${syncguard_locks}_tolerance()
$function$;

-- Why a lease with this expiry was neither extended nor released. The expiry is null if there is no lease.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_outcome(p_expires_at_ms BIGINT) RETURNS TEXT
LANGUAGE sql VOLATILE AS $function$
    SELECT CASE
               WHEN p_expires_at_ms IS NULL THEN 'not_found'
               WHEN ${syncguard_locks}_is_live(p_expires_at_ms, ${syncguard_locks}_now()) THEN 'busy'
               ELSE 'expired'
           END
$function$;

-- Why the lease with this lock id, exclusive or shared, was neither extended nor released.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_outcome_of(p_lock_id TEXT) RETURNS TEXT
LANGUAGE plpgsql AS $function$
DECLARE
    v_expires BIGINT := coalesce(
        (SELECT l.expires_at_ms FROM ${syncguard_locks} l WHERE l.lock_id = p_lock_id),
        (SELECT s.expires_at_ms FROM ${syncguard_locks}_shared s WHERE s.lock_id = p_lock_id));
BEGIN
    RETURN ${syncguard_locks}_outcome(v_expires);
END
$function$;

-- The key of a lease or queue entry, null if there is none.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_key_of(p_lock_id TEXT) RETURNS TEXT
LANGUAGE plpgsql AS $function$
DECLARE
    v_key TEXT;
BEGIN
    -- All three in one snapshot: a hand-over moves a row from the queue to the leases, and two looks could miss both.
    SELECT o.key INTO v_key FROM (
        SELECT s.key, s.lock_id FROM ${syncguard_locks}_shared s
        UNION ALL SELECT w.key, w.lock_id FROM ${syncguard_locks}_waiters w
        UNION ALL SELECT l.key, l.lock_id FROM ${syncguard_locks} l
    ) o WHERE o.lock_id = p_lock_id;
    RETURN v_key;
END
$function$;

-- Locks the serialising row of a key. From here to the commit, no other transaction can grant or release the key, or
-- change its queue.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_lock_key(p_key TEXT) RETURNS VOID
LANGUAGE plpgsql AS $function$
BEGIN
    PERFORM 1 FROM ${syncguard_fence_counters} c
    WHERE c.fence_key = ${syncguard_locks}_fence_key(p_key)
    FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        -- Its first grant created the row, and _forget may have deleted it since.
        INSERT INTO ${syncguard_fence_counters} AS c (fence_key, key_debug)
        VALUES (${syncguard_locks}_fence_key(p_key), p_key)
        ON CONFLICT (fence_key) DO UPDATE SET fence = c.fence;
    END IF;
END
$function$;

-- Locks the serialising rows of these keys, except those that another transaction locks, and returns the keys that it
-- locked. The order of the keys prevents a deadlock with transactions that wait for several rows.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_lock_keys(p_keys TEXT[]) RETURNS TEXT[]
LANGUAGE plpgsql AS $function$
BEGIN
    RETURN ARRAY(
        SELECT ${syncguard_locks}_key_of_fence(c.fence_key) FROM ${syncguard_fence_counters} c
        WHERE c.fence_key = ANY (ARRAY(
            SELECT ${syncguard_locks}_fence_key(k.key) FROM pg_catalog.unnest(p_keys) AS k (key)
        ))
        ORDER BY c.fence_key
        FOR NO KEY UPDATE SKIP LOCKED
    );
END
$function$;

-- What blocks an acquire request: the exclusive lease, the shared leases if it is exclusive, and the queue entries in
-- front of its own, or all entries if it has none. It locks nothing. time_left_ms is the time until the last of these
-- ends, 0 or less if none of them is live. Of several readers, held_by is the owner of the lease that ends last;
-- held_since_ms is null if only waiters block the request.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_blockers(
    p_key TEXT, p_shared BOOLEAN, p_lock_id TEXT,
    OUT now_ms BIGINT, OUT has_exclusive BOOLEAN, OUT has_shared BOOLEAN, OUT leases_until_ms BIGINT,
    OUT entry_until_ms BIGINT, OUT own_arrival BIGINT, OUT time_left_ms BIGINT,
    OUT held_by TEXT, OUT held_since_ms BIGINT, OUT held_by_others BOOLEAN
)
LANGUAGE plpgsql AS $function$
DECLARE
    v_now    BIGINT := ${syncguard_locks}_now();
    v_latest BIGINT;
BEGIN
    SELECT l.key IS NOT NULL, "Last".lock_id IS NOT NULL,
           greatest(l.expires_at_ms, "Last".expires_at_ms) + ${syncguard_locks}_tolerance(),
           "Front".soonest, "Front".latest, "Own".arrival,
           CASE WHEN l.key IS NULL THEN "Last".owner ELSE l.owner END,
           coalesce(l.acquired_at_ms, "Last".acquired_at_ms),
           "Last".lock_id IS NOT NULL AND EXISTS (
               SELECT FROM ${syncguard_locks}_shared s
               WHERE s.key = p_key AND s.lock_id <> "Last".lock_id
                   AND ${syncguard_locks}_is_live(s.expires_at_ms, v_now)
           )
    INTO has_exclusive, has_shared, leases_until_ms, entry_until_ms, v_latest, own_arrival,
         held_by, held_since_ms, held_by_others
    FROM (
        -- A lapsed entry is lost: it blocks no request.
        SELECT (
            SELECT w.arrival FROM ${syncguard_locks}_waiters w WHERE w.lock_id = p_lock_id AND w.expires_at_ms > v_now
        ) AS arrival
    ) AS "Own", LATERAL (
        -- The entries that arrived before it; readers do not block readers.
        SELECT min(w.expires_at_ms) AS soonest, max(w.expires_at_ms) AS latest
        FROM ${syncguard_locks}_waiters w
        WHERE w.key = p_key AND w.expires_at_ms > v_now AND NOT (p_shared AND w.shared)
            AND ("Own".arrival IS NULL OR w.arrival < "Own".arrival)
    ) AS "Front"
    LEFT JOIN ${syncguard_locks} l ON l.key = p_key
    LEFT JOIN LATERAL (
        SELECT s.expires_at_ms, s.lock_id, s.owner, s.acquired_at_ms FROM ${syncguard_locks}_shared s
        WHERE s.key = p_key AND NOT p_shared ORDER BY s.expires_at_ms DESC LIMIT 1
    ) AS "Last" ON true;
    now_ms := v_now;
    time_left_ms := coalesce(greatest(leases_until_ms, v_latest) - v_now, 0);
    IF leases_until_ms <= v_now AND v_latest IS NOT NULL THEN
        held_since_ms := NULL;
    END IF;
END
$function$;

-- Deletes the lapsed leases that block a request. Returns 0, or in how many milliseconds to try again if a row is
-- locked. The caller has locked the serialising row.
--
-- Lapsed leases are deleted and never skipped: an extension under way would revive one beside the grant. The expiry is
-- checked again under the row lock: the lease may have been extended since. FOR UPDATE is of key strength, so it does
-- not pass a transaction that pins the row; SKIP LOCKED does not wait for that transaction either.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_delete_lapsed(
    p_key TEXT, p_exclusive BOOLEAN, p_shared BOOLEAN, p_now_ms BIGINT
) RETURNS BIGINT
LANGUAGE plpgsql AS $function$
DECLARE
    v_pinned BOOLEAN := false;
BEGIN
    IF p_exclusive THEN
        DELETE FROM ${syncguard_locks} l WHERE l.key = (
            SELECT s.key FROM ${syncguard_locks} s
            WHERE s.key = p_key AND NOT ${syncguard_locks}_is_live(s.expires_at_ms, p_now_ms)
            FOR UPDATE SKIP LOCKED
        );
        v_pinned := NOT FOUND;
    END IF;
    IF p_shared AND NOT v_pinned THEN
        DELETE FROM ${syncguard_locks}_shared l WHERE l.lock_id = ANY (ARRAY(
            SELECT s.lock_id FROM ${syncguard_locks}_shared s
            WHERE s.key = p_key AND NOT ${syncguard_locks}_is_live(s.expires_at_ms, p_now_ms)
            FOR UPDATE SKIP LOCKED
        ));
        -- Any remaining reader blocks: it may be committing, or being extended.
        v_pinned := EXISTS (SELECT FROM ${syncguard_locks}_shared s WHERE s.key = p_key);
    END IF;
    RETURN CASE WHEN v_pinned THEN 50 + pg_catalog.floor(pg_catalog.random() * 50::DOUBLE PRECISION)::BIGINT ELSE 0 END;
END
$function$;

-- The next fence of a key that has neither leases nor queue entries, like most keys that are acquired. Null for other
-- keys, and if the counter is at its end.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_fence_if_free(p_key TEXT) RETURNS BIGINT
LANGUAGE plpgsql AS $function$
DECLARE
    v_seen  BIGINT;
    v_fence BIGINT;
BEGIN
    SELECT (SELECT c.fence FROM ${syncguard_fence_counters} c WHERE c.fence_key = ${syncguard_locks}_fence_key(p_key))
    INTO v_seen
    WHERE NOT EXISTS (SELECT FROM ${syncguard_locks} l WHERE l.key = p_key)
        AND NOT EXISTS (SELECT FROM ${syncguard_locks}_shared s WHERE s.key = p_key)
        AND NOT EXISTS (SELECT FROM ${syncguard_locks}_waiters w WHERE w.key = p_key);
    -- Leases and queue of such a key begin with a grant, which changes the fence or creates the row, and _forget does
    -- not delete the row while they are there. So an unchanged fence, or a row that this insert creates, proves that
    -- the key is still free. Both statements wait for a grant under way.
    IF FOUND AND v_seen IS NULL THEN
        INSERT INTO ${syncguard_fence_counters} AS c (fence_key, fence, key_debug)
        VALUES (${syncguard_locks}_fence_key(p_key),
                ${syncguard_locks}_fence_after(0::BIGINT, ${syncguard_locks}_now()), p_key)
        ON CONFLICT (fence_key) DO NOTHING
        RETURNING c.fence INTO v_fence;
    ELSIF FOUND THEN
        UPDATE ${syncguard_fence_counters} c
        SET fence = ${syncguard_locks}_fence_after(c.fence, ${syncguard_locks}_now())
        WHERE c.fence_key = ${syncguard_locks}_fence_key(p_key)
            AND c.fence = v_seen AND c.fence < ${syncguard_locks}_last_fence()
        RETURNING c.fence INTO v_fence;
    END IF;
    RETURN v_fence;
END
$function$;

-- The next fence of a key, or 0 if the counter is at its end. Drawing it locks the serialising row.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_next_fence(p_key TEXT) RETURNS BIGINT
LANGUAGE plpgsql AS $function$
DECLARE
    v_fence BIGINT;
BEGIN
    UPDATE ${syncguard_fence_counters} c
    SET fence = ${syncguard_locks}_fence_after(c.fence, ${syncguard_locks}_now())
    WHERE c.fence_key = ${syncguard_locks}_fence_key(p_key) AND c.fence < ${syncguard_locks}_last_fence()
    RETURNING c.fence INTO v_fence;
    IF NOT FOUND THEN
        -- The counter is at its end; or _forget has deleted it, and another request may create it at the same time.
        INSERT INTO ${syncguard_fence_counters} AS c (fence_key, fence, key_debug)
        VALUES (${syncguard_locks}_fence_key(p_key),
                ${syncguard_locks}_fence_after(0::BIGINT, ${syncguard_locks}_now()), p_key)
        ON CONFLICT (fence_key) DO UPDATE
        SET fence = ${syncguard_locks}_fence_after(c.fence, ${syncguard_locks}_now())
        WHERE c.fence < ${syncguard_locks}_last_fence()
        RETURNING c.fence INTO v_fence;
    END IF;
    RETURN coalesce(v_fence, 0);
END
$function$;

-- Creates a lease with this fence, and returns the time of the grant. The caller has made sure that nothing blocks the
-- key until the commit.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_grant(
    p_key TEXT, p_shared BOOLEAN, p_lock_id TEXT, p_ttl_ms BIGINT, p_owner TEXT, p_fence BIGINT
) RETURNS BIGINT
LANGUAGE plpgsql AS $function$
DECLARE
    v_now BIGINT := ${syncguard_locks}_now();
BEGIN
    IF p_shared THEN
        INSERT INTO ${syncguard_locks}_shared (lock_id, key, expires_at_ms, acquired_at_ms, fence, user_key, owner)
        VALUES (p_lock_id, p_key, v_now + p_ttl_ms, v_now, ${syncguard_locks}_fence_text(p_fence), p_key, p_owner);
    ELSE
        INSERT INTO ${syncguard_locks} (key, lock_id, expires_at_ms, acquired_at_ms, fence, user_key, owner)
        VALUES (p_key, p_lock_id, v_now + p_ttl_ms, v_now, ${syncguard_locks}_fence_text(p_fence), p_key, p_owner);
    END IF;
    RETURN v_now;
END
$function$;

-- One attempt of a caller who has no queue entry and gets none. granted_fence is null if it is refused, and 0 if the
-- counter is at its end. A refusal writes nothing and locks no row, unless it lost a race; it names the holder of the
-- key, for people. held_lapsed: its lease has lapsed, but a transaction locks the row, such as a commit under the lock.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_acquire(
    p_key TEXT, p_shared BOOLEAN, p_lock_id TEXT, p_ttl_ms BIGINT, p_owner TEXT,
    OUT granted_fence BIGINT, OUT granted_at_ms BIGINT, OUT granted_until_ms BIGINT, OUT time_left_ms BIGINT,
    OUT held_by TEXT, OUT held_since_ms BIGINT, OUT held_by_others BOOLEAN, OUT held_lapsed BOOLEAN
)
LANGUAGE plpgsql AS $function$
DECLARE
    v_queue   BOOLEAN;
    "Blocked" RECORD;
BEGIN
    -- Most refused tries end here: the key has a holder and no waiters.
    SELECT l.expires_at_ms + ${syncguard_locks}_tolerance() - ${syncguard_locks}_now(),
           l.owner, l.acquired_at_ms, false, EXISTS (SELECT FROM ${syncguard_locks}_waiters w WHERE w.key = p_key)
    INTO time_left_ms, held_by, held_since_ms, held_by_others, v_queue
    FROM ${syncguard_locks} l WHERE l.key = p_key;
    IF FOUND AND time_left_ms > 0 AND NOT v_queue THEN
        RETURN;
    ELSIF NOT FOUND THEN
        granted_fence := ${syncguard_locks}_fence_if_free(p_key);
    END IF;

    IF granted_fence IS NULL THEN
        -- The first look takes no lock, because a row lock alone makes the commit write.
        "Blocked" := ${syncguard_locks}_blockers(p_key, p_shared, p_lock_id);
        time_left_ms := "Blocked".time_left_ms;
        IF "Blocked".own_arrival IS NOT NULL THEN
            -- The caller has an entry all the same, so this attempt is its last.
            SELECT r.*
            INTO granted_fence, granted_at_ms, granted_until_ms, time_left_ms, held_by, held_since_ms, held_by_others,
                 held_lapsed
            FROM ${syncguard_locks}_acquire_leave(p_key, p_shared, p_lock_id, p_ttl_ms, p_owner) r;
            RETURN;
        ELSIF time_left_ms <= 0 THEN
            -- Lock the row by drawing the fence, and look again: another request may have been granted the key since
            -- the first look.
            granted_fence := ${syncguard_locks}_next_fence(p_key);
            IF granted_fence = 0 THEN
                RETURN;
            END IF;
            "Blocked" := ${syncguard_locks}_blockers(p_key, p_shared, p_lock_id);
            time_left_ms := "Blocked".time_left_ms;
            IF time_left_ms <= 0 THEN
                time_left_ms := ${syncguard_locks}_delete_lapsed(
                    p_key, "Blocked".has_exclusive, "Blocked".has_shared, "Blocked".now_ms);
                held_lapsed := true;
            END IF;
        END IF;
    END IF;
    IF time_left_ms > 0 THEN
        held_by := "Blocked".held_by;
        held_since_ms := "Blocked".held_since_ms;
        held_by_others := "Blocked".held_by_others;
        IF granted_fence IS NOT NULL THEN
            -- The fence is given back before any transaction can see it: the counter is not below the last fence that
            -- was granted. A refusal need not be durable.
            UPDATE ${syncguard_fence_counters} c SET fence = c.fence - 1
            WHERE c.fence_key = ${syncguard_locks}_fence_key(p_key);
            granted_fence := NULL;
            PERFORM pg_catalog.set_config('synchronous_commit', 'off', true);
        END IF;
        RETURN;
    END IF;
    granted_at_ms := ${syncguard_locks}_grant(p_key, p_shared, p_lock_id, p_ttl_ms, p_owner, granted_fence);
    granted_until_ms := granted_at_ms + p_ttl_ms;
END
$function$;

-- Many attempts at once, of callers who have no queue entry: exclusive requests for different keys. Keys without leases
-- and queue entries are granted. Keys with a live exclusive lease and no waiters are refused, as _acquire does it. The
-- other requests have no row in the answer: each of them has to be sent alone. request_position counts from 1.
--
-- A batch does not wait for a locked row. But the first insert of a counter waits for the same insert of another
-- transaction, and SKIP LOCKED waits in rare cases for a row that has just changed. lock_timeout limits both waits; the
-- batch then fails without effect.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_acquire_batch(
    p_keys TEXT[], p_lock_ids TEXT[], p_ttls_ms BIGINT[], p_owners TEXT[]
)
RETURNS TABLE (
    request_position BIGINT, granted_fence BIGINT, granted_at_ms BIGINT, granted_until_ms BIGINT, time_left_ms BIGINT,
    held_by TEXT, held_since_ms BIGINT
)
LANGUAGE plpgsql
SET lock_timeout = '20ms'
-- Otherwise each call with arrays is planned anew, which takes longer than the call.
SET plan_cache_mode = force_generic_plan
AS $function$
DECLARE
    -- One time for all fences, so that counter and lease have the same one.
    v_now BIGINT := ${syncguard_locks}_now();
BEGIN
    RETURN QUERY
    WITH "Look" AS MATERIALIZED (
        SELECT r.*, ${syncguard_locks}_fence_key(r.key) AS fence_key,
               (SELECT c.fence FROM ${syncguard_fence_counters} c
                WHERE c.fence_key = ${syncguard_locks}_fence_key(r.key)) AS fence,
               l.expires_at_ms, l.acquired_at_ms, l.owner AS holder
        FROM unnest(p_keys, p_lock_ids, p_ttls_ms, p_owners)
            WITH ORDINALITY AS r (key, lock_id, ttl_ms, owner, position)
        LEFT JOIN LATERAL (SELECT o.* FROM ${syncguard_locks} o WHERE o.key = r.key OFFSET 0) AS l ON true
        WHERE NOT EXISTS (SELECT FROM ${syncguard_locks}_shared s WHERE s.key = r.key OFFSET 0)
            AND NOT EXISTS (SELECT FROM ${syncguard_locks}_waiters w WHERE w.key = r.key OFFSET 0)
        -- Two batches that insert the same counters in different orders could deadlock.
        ORDER BY r.key COLLATE pg_catalog."C"
    ), "Locked" AS MATERIALIZED (
        -- The proof of _fence_if_free: a row that is locked with the fence of the look belongs to a key that is still
        -- free. A subquery for each key, because a join could read the whole table.
        SELECT k.fence_key
        FROM "Look" k, LATERAL (
            SELECT FROM ${syncguard_fence_counters} c
            WHERE c.fence_key = k.fence_key AND c.fence = k.fence AND c.fence < ${syncguard_locks}_last_fence()
            FOR NO KEY UPDATE SKIP LOCKED
        ) AS c
        WHERE k.expires_at_ms IS NULL
    ), "Counter" AS (
        UPDATE ${syncguard_fence_counters} c SET fence = ${syncguard_locks}_fence_after(c.fence, v_now)
        WHERE c.fence_key = ANY (ARRAY(SELECT l.fence_key FROM "Locked" l))
        RETURNING c.fence_key
    ), "NewCounter" AS (
        INSERT INTO ${syncguard_fence_counters} AS c (fence_key, fence, key_debug)
        SELECT k.fence_key, ${syncguard_locks}_fence_after(0::BIGINT, v_now), k.key FROM "Look" k
        WHERE k.expires_at_ms IS NULL AND k.fence IS NULL
        ON CONFLICT (fence_key) DO NOTHING
        RETURNING c.fence_key
    ), "Granted" AS MATERIALIZED (
        -- The clock is read with the rows locked. IS TRUE makes it a lookup in a hash table.
        SELECT k.*, ${syncguard_locks}_fence_after(coalesce(k.fence, 0), v_now) AS next_fence,
               ${syncguard_locks}_now() AS now_ms
        FROM "Look" k
        WHERE (k.fence_key IN (TABLE "Counter" UNION ALL TABLE "NewCounter")) IS TRUE
    ), "Lease" AS (
        INSERT INTO ${syncguard_locks} (key, lock_id, expires_at_ms, acquired_at_ms, fence, user_key, owner)
        SELECT g.key, g.lock_id, g.now_ms + g.ttl_ms, g.now_ms, ${syncguard_locks}_fence_text(g.next_fence), g.key,
               g.owner
        FROM "Granted" g
    )
    SELECT g.position, g.next_fence, g.now_ms, g.now_ms + g.ttl_ms, NULL::BIGINT, NULL::TEXT, NULL::BIGINT
    FROM "Granted" g
    UNION ALL
    SELECT "Held".position, NULL, NULL, NULL, "Held".time_left, "Held".holder, "Held".acquired_at_ms
    FROM (
        SELECT k.*, k.expires_at_ms + ${syncguard_locks}_tolerance() - ${syncguard_locks}_now() AS time_left
        FROM "Look" k WHERE k.expires_at_ms IS NOT NULL
    ) AS "Held"
    WHERE "Held".time_left > 0;
END
$function$;

-- Of these readers, those that neither an exclusive lease nor a writer in front of their queue entries blocks: the
-- positions in the arrays. A lapsed lease counts, because somebody has to take it over. It locks nothing.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_free_readers(p_keys TEXT[], p_lock_ids TEXT[]) RETURNS BIGINT[]
LANGUAGE plpgsql AS $function$
DECLARE
    v_now BIGINT := ${syncguard_locks}_now();
BEGIN
    RETURN ARRAY(
        SELECT r.position
        FROM unnest(p_keys, p_lock_ids) WITH ORDINALITY AS r (key, lock_id, position)
        LEFT JOIN LATERAL (
            SELECT w.arrival FROM ${syncguard_locks}_waiters w
            WHERE w.lock_id = r.lock_id AND w.expires_at_ms > v_now OFFSET 0
        ) AS "Own" ON true
        WHERE NOT EXISTS (SELECT FROM ${syncguard_locks} l WHERE l.key = r.key OFFSET 0)
            AND NOT EXISTS (
                SELECT FROM ${syncguard_locks}_waiters w
                WHERE w.key = r.key AND w.expires_at_ms > v_now AND NOT w.shared
                    AND ("Own".arrival IS NULL OR w.arrival < "Own".arrival)
                OFFSET 0
            )
    );
END
$function$;

-- Many attempts of readers at once, with queue entries or without, for any keys. Requests that nothing blocks are
-- granted. The other requests have no row in the answer: each of them has to be sent alone. Like _acquire_batch, it
-- does not wait for a serialising row, and fails without effect where it waits for another row.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_acquire_readers(
    p_keys TEXT[], p_lock_ids TEXT[], p_ttls_ms BIGINT[], p_owners TEXT[]
)
RETURNS TABLE (request_position BIGINT, granted_fence BIGINT, granted_at_ms BIGINT, granted_until_ms BIGINT)
LANGUAGE plpgsql
SET lock_timeout = '20ms'
SET plan_cache_mode = force_generic_plan
AS $function$
DECLARE
    -- The first look takes no lock, because a row lock alone makes the commit write.
    v_free   BIGINT[] := ${syncguard_locks}_free_readers(p_keys, p_lock_ids);
    v_locked TEXT[];
    v_now    BIGINT := ${syncguard_locks}_now();
BEGIN
    IF pg_catalog.cardinality(v_free) = 0 THEN
        RETURN;
    END IF;
    v_locked := ${syncguard_locks}_lock_keys(
        ARRAY(SELECT DISTINCT p_keys[f.position] FROM pg_catalog.unnest(v_free) AS f (position)));
    -- Another request may have been granted a key, or have queued for it, since the first look.
    v_free := ${syncguard_locks}_free_readers(p_keys, p_lock_ids);

    RETURN QUERY
    WITH "Free" AS MATERIALIZED (
        SELECT r.*, ${syncguard_locks}_fence_key(r.key) AS fence_key
        FROM unnest(p_keys, p_lock_ids, p_ttls_ms, p_owners)
            WITH ORDINALITY AS r (key, lock_id, ttl_ms, owner, position)
        WHERE r.key = ANY (v_locked) AND r.position = ANY (v_free)
    ), "Counter" AS (
        -- One fence for the first reader of a key, and the numbers behind it for the others.
        UPDATE ${syncguard_fence_counters} c SET fence = ${syncguard_locks}_fence_after(c.fence, v_now) - 1 + (
            SELECT count(*) FROM "Free" f WHERE f.fence_key = c.fence_key
        )
        WHERE c.fence_key = ANY (ARRAY(SELECT f.fence_key FROM "Free" f GROUP BY f.fence_key))
            AND ${syncguard_locks}_fence_after(c.fence, v_now) - 1 + pg_catalog.cardinality(p_keys)
                <= ${syncguard_locks}_last_fence()
        RETURNING c.fence_key, c.fence
    ), "Granted" AS MATERIALIZED (
        -- The last reader of a key has the fence of the counter.
        SELECT f.*, c.fence + 1 - row_number() OVER (PARTITION BY f.key ORDER BY f.position DESC) AS next_fence,
               ${syncguard_locks}_now() AS now_ms
        FROM "Free" f JOIN "Counter" c ON c.fence_key = f.fence_key
    ), "Lease" AS (
        INSERT INTO ${syncguard_locks}_shared (lock_id, key, expires_at_ms, acquired_at_ms, fence, user_key, owner)
        SELECT g.lock_id, g.key, g.now_ms + g.ttl_ms, g.now_ms, ${syncguard_locks}_fence_text(g.next_fence), g.key,
               g.owner
        FROM "Granted" g
    ), "Left" AS (
        -- Also lapsed entries, as in _attempt.
        DELETE FROM ${syncguard_locks}_waiters w WHERE w.lock_id = ANY (ARRAY(SELECT g.lock_id FROM "Granted" g))
    )
    SELECT g.position, g.next_fence, g.now_ms, g.now_ms + g.ttl_ms FROM "Granted" g;
END
$function$;

-- One attempt of a waiter, under the serialising row. p_queued says that it has a queue entry, or a lease that a
-- release made of the entry or that an earlier attempt got whose answer was lost. It returns what _acquire returns, and
-- of a refusal also what the queue needs. A grant deletes the queue entry; a refusal leaves it as it is.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_attempt(
    p_key TEXT, p_shared BOOLEAN, p_lock_id TEXT, p_ttl_ms BIGINT, p_owner TEXT, p_queued BOOLEAN,
    OUT granted_fence BIGINT, OUT granted_at_ms BIGINT, OUT granted_until_ms BIGINT, OUT time_left_ms BIGINT,
    OUT held_by TEXT, OUT held_since_ms BIGINT, OUT held_by_others BOOLEAN, OUT held_lapsed BOOLEAN,
    OUT now_ms BIGINT, OUT leases_until_ms BIGINT, OUT entry_until_ms BIGINT, OUT own_arrival BIGINT
)
LANGUAGE plpgsql AS $function$
DECLARE
    "Blocked" RECORD;
BEGIN
    -- Lock the row before the look: a release between look and queue entry would find no waiter to wake.
    PERFORM ${syncguard_locks}_lock_key(p_key);
    IF p_queued THEN
        -- The wake-up with the grant of a release was lost, or is still under way. Before the look, which would find
        -- this lease in the way. It is acquired now: until now, nobody held it.
        PERFORM 1 FROM ${syncguard_locks} l WHERE l.key = p_key AND l.lock_id = p_lock_id FOR NO KEY UPDATE NOWAIT;
        IF FOUND THEN
            UPDATE ${syncguard_locks} l SET
                acquired_at_ms = ${syncguard_locks}_now(), expires_at_ms = ${syncguard_locks}_now() + p_ttl_ms
            WHERE l.key = p_key AND l.lock_id = p_lock_id
                AND ${syncguard_locks}_is_live(l.expires_at_ms, ${syncguard_locks}_now())
            RETURNING l.fence, l.acquired_at_ms, l.expires_at_ms INTO granted_fence, granted_at_ms, granted_until_ms;
            IF FOUND THEN
                RETURN;
            END IF;
        END IF;
    END IF;
    IF p_queued AND p_shared THEN
        -- An earlier attempt was granted the key, and its answer was lost. Nobody holds that lease.
        PERFORM 1 FROM ${syncguard_locks}_shared s WHERE s.lock_id = p_lock_id FOR NO KEY UPDATE NOWAIT;
        IF FOUND THEN
            UPDATE ${syncguard_locks}_shared s SET
                acquired_at_ms = ${syncguard_locks}_now(), expires_at_ms = ${syncguard_locks}_now() + p_ttl_ms
            WHERE s.lock_id = p_lock_id
                AND ${syncguard_locks}_is_live(s.expires_at_ms, ${syncguard_locks}_now())
            RETURNING s.fence, s.acquired_at_ms, s.expires_at_ms INTO granted_fence, granted_at_ms, granted_until_ms;
            IF FOUND THEN
                RETURN;
            END IF;
            DELETE FROM ${syncguard_locks}_shared s WHERE s.lock_id = ANY (ARRAY(
                SELECT o.lock_id FROM ${syncguard_locks}_shared o WHERE o.lock_id = p_lock_id FOR UPDATE SKIP LOCKED));
        END IF;
    END IF;

    "Blocked" := ${syncguard_locks}_blockers(p_key, p_shared, p_lock_id);
    time_left_ms := "Blocked".time_left_ms;
    IF time_left_ms <= 0 THEN
        time_left_ms := ${syncguard_locks}_delete_lapsed(
            p_key, "Blocked".has_exclusive, "Blocked".has_shared, "Blocked".now_ms);
        held_lapsed := true;
    END IF;
    IF time_left_ms > 0 THEN
        held_by := "Blocked".held_by;
        held_since_ms := "Blocked".held_since_ms;
        held_by_others := "Blocked".held_by_others;
        now_ms := "Blocked".now_ms;
        leases_until_ms := "Blocked".leases_until_ms;
        entry_until_ms := "Blocked".entry_until_ms;
        own_arrival := "Blocked".own_arrival;
        RETURN;
    END IF;

    granted_fence := ${syncguard_locks}_next_fence(p_key);
    IF granted_fence > 0 THEN
        granted_at_ms := ${syncguard_locks}_grant(p_key, p_shared, p_lock_id, p_ttl_ms, p_owner, granted_fence);
        granted_until_ms := granted_at_ms + p_ttl_ms;
        -- Also a lapsed entry: a renewal under way would revive it, in front of all others and without a waiter.
        DELETE FROM ${syncguard_locks}_waiters w WHERE w.lock_id = p_lock_id;
    END IF;
END
$function$;

-- The last attempt of a waiter, which leaves the queue if it is refused. It returns what _acquire returns.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_acquire_leave(
    p_key TEXT, p_shared BOOLEAN, p_lock_id TEXT, p_ttl_ms BIGINT, p_owner TEXT,
    OUT granted_fence BIGINT, OUT granted_at_ms BIGINT, OUT granted_until_ms BIGINT, OUT time_left_ms BIGINT,
    OUT held_by TEXT, OUT held_since_ms BIGINT, OUT held_by_others BOOLEAN, OUT held_lapsed BOOLEAN
)
LANGUAGE plpgsql AS $function$
DECLARE
    v_arrival BIGINT;
    "Attempt" RECORD := ${syncguard_locks}_attempt(p_key, p_shared, p_lock_id, p_ttl_ms, p_owner, true);
BEGIN
    granted_fence := "Attempt".granted_fence;
    granted_at_ms := "Attempt".granted_at_ms;
    granted_until_ms := "Attempt".granted_until_ms;
    time_left_ms := "Attempt".time_left_ms;
    held_by := "Attempt".held_by;
    held_since_ms := "Attempt".held_since_ms;
    held_by_others := "Attempt".held_by_others;
    held_lapsed := "Attempt".held_lapsed;
    IF granted_fence IS NOT NULL THEN
        RETURN;
    END IF;

    -- A refusal is not worth waiting for the disk.
    PERFORM pg_catalog.set_config('synchronous_commit', 'off', true);
    DELETE FROM ${syncguard_locks}_waiters w WHERE w.lock_id = p_lock_id RETURNING w.arrival INTO v_arrival;
    IF FOUND THEN
        -- Nothing else wakes the waiters behind it, which may be in front now.
        PERFORM ${syncguard_locks}_wake_behind(p_key, v_arrival, p_shared);
    END IF;
END
$function$;

-- In how many milliseconds a refused waiter has to look again if no wake-up comes: when the first of the blocking
-- leases ends, because the others may be released before that without a wake-up; or when the first entry in front ends,
-- because its waiter may be dead. Null if there is no such time.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_next_look(
    p_key TEXT, p_shared BOOLEAN, p_now_ms BIGINT, p_leases_until_ms BIGINT, p_entry_until_ms BIGINT
) RETURNS BIGINT
LANGUAGE plpgsql AS $function$
BEGIN
    RETURN least(
        CASE WHEN p_leases_until_ms > p_now_ms THEN p_leases_until_ms END,
        (SELECT min(s.expires_at_ms) + ${syncguard_locks}_tolerance() FROM ${syncguard_locks}_shared s
         WHERE s.key = p_key AND ${syncguard_locks}_is_live(s.expires_at_ms, p_now_ms) AND NOT p_shared),
        p_entry_until_ms) - p_now_ms;
END
$function$;

-- One attempt of a waiter. If it is refused, it gets a queue entry, or renews the one that it has. p_queued says that
-- an earlier attempt was refused, so that there is an entry, or a lease that a release made of it. It returns what
-- _acquire returns, except that time_left_ms says when to look again.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_acquire_queue(
    p_key TEXT, p_shared BOOLEAN, p_lock_id TEXT, p_ttl_ms BIGINT, p_owner TEXT, p_queued BOOLEAN,
    p_waiter BIGINT, p_waiter_ttl_ms BIGINT, p_hand_over BOOLEAN, p_channel TEXT, p_secret TEXT,
    OUT granted_fence BIGINT, OUT granted_at_ms BIGINT, OUT granted_until_ms BIGINT, OUT time_left_ms BIGINT,
    OUT held_by TEXT, OUT held_since_ms BIGINT, OUT held_by_others BOOLEAN, OUT held_lapsed BOOLEAN
)
LANGUAGE plpgsql
-- All keys have the same plan. With some statistics the server would plan some statements at each call.
SET plan_cache_mode = force_generic_plan
AS $function$
DECLARE
    v_expires BIGINT;
    "Attempt" RECORD;
BEGIN
    IF NOT p_queued THEN
        granted_fence := ${syncguard_locks}_fence_if_free(p_key);
        IF granted_fence IS NOT NULL THEN
            granted_at_ms := ${syncguard_locks}_grant(p_key, p_shared, p_lock_id, p_ttl_ms, p_owner, granted_fence);
            granted_until_ms := granted_at_ms + p_ttl_ms;
            RETURN;
        END IF;
    END IF;

    "Attempt" := ${syncguard_locks}_attempt(p_key, p_shared, p_lock_id, p_ttl_ms, p_owner, p_queued);
    granted_fence := "Attempt".granted_fence;
    granted_at_ms := "Attempt".granted_at_ms;
    granted_until_ms := "Attempt".granted_until_ms;
    time_left_ms := "Attempt".time_left_ms;
    held_by := "Attempt".held_by;
    held_since_ms := "Attempt".held_since_ms;
    held_by_others := "Attempt".held_by_others;
    held_lapsed := "Attempt".held_lapsed;
    IF granted_fence IS NOT NULL THEN
        RETURN;
    END IF;

    -- A queue entry that is lost in a crash costs fairness only: it need not be durable.
    PERFORM pg_catalog.set_config('synchronous_commit', 'off', true);
    v_expires := "Attempt".now_ms + p_waiter_ttl_ms;
    IF "Attempt".own_arrival IS NULL THEN
        -- A lapsed entry is lost: its number would let the waiter pass those that arrived since.
        DELETE FROM ${syncguard_locks}_waiters w WHERE w.lock_id = p_lock_id;
        INSERT INTO ${syncguard_locks}_waiters
            (lock_id, key, arrived_at_ms, shared, expires_at_ms, ttl_ms, hand_over, channel, waiter, owner, secret)
        VALUES (p_lock_id, p_key, "Attempt".now_ms, p_shared, v_expires, p_waiter_ttl_ms,
                p_hand_over, p_channel, p_waiter, p_owner, p_secret);
    ELSE
        UPDATE ${syncguard_locks}_waiters w SET expires_at_ms = v_expires, waiter = p_waiter, secret = p_secret
        WHERE w.lock_id = p_lock_id;
    END IF;
    time_left_ms := coalesce(
        ${syncguard_locks}_next_look(
            p_key, p_shared, "Attempt".now_ms, "Attempt".leases_until_ms, "Attempt".entry_until_ms),
        time_left_ms);
END
$function$;

-- The front of a queue, limited to waiters that wake-ups reach: the readers in front of the first writer, and that
-- writer. is_next: no entry in front conflicts with it; can_go_on: no lease either. The caller has locked the
-- serialising row.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_queue_front(p_key TEXT)
RETURNS TABLE (arrival BIGINT, shared BOOLEAN, channel TEXT, waiter BIGINT, is_next BOOLEAN, can_go_on BOOLEAN)
LANGUAGE plpgsql AS $function$
DECLARE
    v_now BIGINT := ${syncguard_locks}_now();
BEGIN
    -- Lapsed entries are deleted and never skipped, and the delete waits for a renewal under way: such an entry would
    -- be in front of the waiters that are woken.
    DELETE FROM ${syncguard_locks}_waiters w WHERE w.key = p_key AND w.expires_at_ms <= ${syncguard_locks}_now();

    RETURN QUERY
    SELECT q.arrival, q.shared, q.channel, q.waiter, q.is_next,
           q.is_next
               AND NOT EXISTS (
                   SELECT FROM ${syncguard_locks} l
                   WHERE l.key = p_key AND ${syncguard_locks}_is_live(l.expires_at_ms, v_now))
               AND (q.shared OR NOT EXISTS (
                   SELECT FROM ${syncguard_locks}_shared s
                   WHERE s.key = p_key AND ${syncguard_locks}_is_live(s.expires_at_ms, v_now)))
    FROM (
        SELECT w.*, w.shared OR w.arrival = (
                   SELECT min(f.arrival) FROM ${syncguard_locks}_waiters f WHERE f.key = p_key
               ) AS is_next
        FROM ${syncguard_locks}_waiters w
        WHERE w.key = p_key AND w.channel IS NOT NULL AND w.arrival <= coalesce(
            (SELECT min(f.arrival) FROM ${syncguard_locks}_waiters f WHERE f.key = p_key AND NOT f.shared),
            9223372036854775807)
    ) AS q;
END
$function$;

-- Wakes the waiters of a key that can be granted now.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_wake_next(p_key TEXT) RETURNS VOID
LANGUAGE plpgsql AS $function$
BEGIN
    PERFORM pg_catalog.pg_notify(f.channel, f.waiter::TEXT) FROM ${syncguard_locks}_queue_front(p_key) f
    WHERE f.can_go_on;
END
$function$;

-- Wakes the waiters that can be granted now, and those behind a waiter that has just left: their next look was chosen
-- for that waiter. The writer behind readers has to look, too: the readers may be granted the key and release it
-- without a wake-up. Readers do not block each other.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_wake_behind(p_key TEXT, p_arrival BIGINT, p_shared BOOLEAN) RETURNS VOID
LANGUAGE plpgsql AS $function$
BEGIN
    PERFORM pg_catalog.pg_notify(f.channel, f.waiter::TEXT) FROM ${syncguard_locks}_queue_front(p_key) f
    WHERE f.can_go_on OR f.arrival > p_arrival AND (NOT p_shared OR f.is_next AND NOT f.shared);
END
$function$;

-- Wakes the whole front of a queue, because a lease ends earlier than the next look of its waiters. Also the writer
-- behind readers: they may let it pass without a wake-up.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_wake_front(p_key TEXT) RETURNS VOID
LANGUAGE plpgsql AS $function$
BEGIN
    PERFORM pg_catalog.pg_notify(f.channel, f.waiter::TEXT) FROM ${syncguard_locks}_queue_front(p_key) f;
END
$function$;

-- Renews queue entries, and returns for each renewed entry in how many milliseconds to look again, 0 if it can be
-- granted now. A waiter that is not in the answer has to look at once: its entry is lost, or another transaction locks
-- it and may be making a lease of it. It looks without the serialising row, so its answer is a hint, and the next
-- acquire request looks again.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_renew_waiters(p_lock_ids TEXT[])
RETURNS TABLE (lock_id TEXT, time_left_ms BIGINT)
LANGUAGE plpgsql AS $function$
DECLARE
    v_now     BIGINT := ${syncguard_locks}_now();
    v_renewed TEXT[];
    v_keys    TEXT[];
BEGIN
    -- A renewal that is lost in a crash costs fairness only.
    PERFORM pg_catalog.set_config('synchronous_commit', 'off', true);

    -- A lapsed entry is lost: others may have passed it. SKIP LOCKED, so that one locked entry does not delay all
    -- others of the process, which would lapse.
    WITH "Renewed" AS (
        UPDATE ${syncguard_locks}_waiters w SET expires_at_ms = v_now + w.ttl_ms
        WHERE w.lock_id = ANY (ARRAY(
            SELECT s.lock_id FROM ${syncguard_locks}_waiters s
            WHERE s.lock_id = ANY (p_lock_ids) AND s.expires_at_ms > v_now
            FOR NO KEY UPDATE SKIP LOCKED
        ))
        RETURNING w.lock_id, w.key
    )
    SELECT pg_catalog.array_agg(r.lock_id), pg_catalog.array_agg(DISTINCT r.key) INTO v_renewed, v_keys
    FROM "Renewed" r;

    v_now := ${syncguard_locks}_now();
    RETURN QUERY
    WITH "Queue" AS (
        SELECT q.lock_id,
               CASE WHEN q.shared THEN k.exclusive_until ELSE least(k.exclusive_until, k.shared_until) END
                   + ${syncguard_locks}_tolerance() AS leases,
               min(q.expires_at_ms) FILTER (WHERE NOT q.shared) OVER "InFront" AS writers,
               CASE WHEN NOT q.shared THEN min(q.expires_at_ms) OVER "InFront" END AS everybody
        FROM (
            SELECT k.key,
                   (SELECT l.expires_at_ms FROM ${syncguard_locks} l
                    WHERE l.key = k.key AND ${syncguard_locks}_is_live(l.expires_at_ms, v_now)) AS exclusive_until,
                   (SELECT min(s.expires_at_ms) FROM ${syncguard_locks}_shared s
                    WHERE s.key = k.key AND ${syncguard_locks}_is_live(s.expires_at_ms, v_now)) AS shared_until
            FROM pg_catalog.unnest(v_keys) AS k (key) OFFSET 0
        ) AS k, LATERAL (
            SELECT w.* FROM ${syncguard_locks}_waiters w WHERE w.key = k.key AND w.expires_at_ms > v_now OFFSET 0
        ) AS q
        WINDOW "InFront" AS (PARTITION BY q.key ORDER BY q.arrival ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
    )
    SELECT q.lock_id, coalesce(least(q.leases, q.writers, q.everybody) - v_now, 0) FROM "Queue" q
    -- IS TRUE makes it a lookup in a hash table. A join, planned for few rows, would compare each entry with each.
    WHERE (q.lock_id IN (SELECT r.lock_id FROM pg_catalog.unnest(v_renewed) AS r (lock_id))) IS TRUE;
END
$function$;

-- Deletes the live lease with this lock id (outcome 'released') or the queue entry (outcome 'left'). Otherwise the
-- outcome is 'busy', 'expired' or 'not_found'. After 'released', first_waiter is the arrival of the first waiter, which
-- the caller has to wake.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_remove(
    p_lock_id TEXT, OUT outcome TEXT, OUT freed_key TEXT, OUT first_waiter BIGINT
)
LANGUAGE plpgsql AS $function$
DECLARE
    -- A release that is lost in a crash costs one ttl, so it need not be durable. Every later grant is flushed together
    -- with it, because the log is written in order.
    v_commits TEXT := pg_catalog.set_config('synchronous_commit', 'off', true);
    v_key     TEXT;
    v_arrival BIGINT;
    v_shared  BOOLEAN;
BEGIN
    SELECT l.key INTO v_key FROM ${syncguard_locks} l WHERE l.lock_id = p_lock_id;
    IF NOT FOUND THEN
        v_key := ${syncguard_locks}_key_of(p_lock_id);
        IF v_key IS NULL THEN
            outcome := 'not_found';
            RETURN;
        END IF;
    END IF;

    -- The serialising row first: a request that has looked and is about to be granted or to queue would not see this
    -- release.
    PERFORM 1 FROM ${syncguard_fence_counters} c
    WHERE c.fence_key = ${syncguard_locks}_fence_key(v_key)
    FOR NO KEY UPDATE;

    -- The lock id again, under the row lock: the key may have another holder by now, and a queue entry may have become
    -- a lease. The clock is read here, too: a lapsed lease may be about to be taken over.
    DELETE FROM ${syncguard_locks} l WHERE l.key = (
        SELECT s.key FROM ${syncguard_locks} s
        WHERE s.lock_id = p_lock_id AND ${syncguard_locks}_is_live(s.expires_at_ms, ${syncguard_locks}_now())
        FOR UPDATE SKIP LOCKED
    ) RETURNING l.key, (SELECT min(w.arrival) FROM ${syncguard_locks}_waiters w WHERE w.key = v_key)
    INTO freed_key, first_waiter;
    IF NOT FOUND THEN
        DELETE FROM ${syncguard_locks}_shared l WHERE l.lock_id = (
            SELECT s.lock_id FROM ${syncguard_locks}_shared s
            WHERE s.lock_id = p_lock_id AND ${syncguard_locks}_is_live(s.expires_at_ms, ${syncguard_locks}_now())
            FOR UPDATE SKIP LOCKED
        ) RETURNING l.key, (SELECT min(w.arrival) FROM ${syncguard_locks}_waiters w WHERE w.key = v_key)
        INTO freed_key, first_waiter;
    END IF;
    IF FOUND THEN
        outcome := 'released';
        RETURN;
    END IF;

    DELETE FROM ${syncguard_locks}_waiters w WHERE w.lock_id = p_lock_id
    RETURNING w.arrival, w.shared INTO v_arrival, v_shared;
    IF FOUND THEN
        PERFORM ${syncguard_locks}_wake_behind(v_key, v_arrival, v_shared);
        outcome := 'left';
        RETURN;
    END IF;
    outcome := ${syncguard_locks}_outcome_of(p_lock_id);
END
$function$;

-- Releases the leases among these that are live and whose keys have no queue entries, and returns their lock ids. Each
-- of the others has to be released alone. Like _acquire_batch, it does not wait for a locked row, and fails without
-- effect where PostgreSQL waits in spite of SKIP LOCKED.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_release_batch(p_lock_ids TEXT[]) RETURNS TABLE (released_lock_id TEXT)
LANGUAGE plpgsql
SET lock_timeout = '20ms'
SET plan_cache_mode = force_generic_plan
AS $function$
DECLARE
    -- As in _remove.
    v_commits  TEXT := pg_catalog.set_config('synchronous_commit', 'off', true);
    v_keys     TEXT[];
    v_released BIGINT;
BEGIN
    -- The serialising rows first: a request that has looked and is about to be granted or to queue would not see this
    -- release.
    v_keys := ${syncguard_locks}_lock_keys(ARRAY(
        SELECT l.key FROM ${syncguard_locks} l WHERE l.lock_id = ANY (p_lock_ids)
        UNION ALL SELECT s.key FROM ${syncguard_locks}_shared s WHERE s.lock_id = ANY (p_lock_ids)
    ));

    -- The lock ids again, under the row locks: the keys may have other holders and waiters by now. IS TRUE makes it a
    -- lookup in a hash table.
    RETURN QUERY
    DELETE FROM ${syncguard_locks} l WHERE l.key = ANY (ARRAY(
        SELECT s.key FROM ${syncguard_locks} s
        WHERE s.lock_id = ANY (p_lock_ids)
            AND (s.key IN (SELECT k.key FROM pg_catalog.unnest(v_keys) AS k (key))) IS TRUE
            AND ${syncguard_locks}_is_live(s.expires_at_ms, ${syncguard_locks}_now())
            AND NOT EXISTS (SELECT FROM ${syncguard_locks}_waiters w WHERE w.key = s.key OFFSET 0)
        FOR UPDATE SKIP LOCKED
    )) RETURNING l.lock_id;
    GET DIAGNOSTICS v_released = ROW_COUNT;
    IF v_released < pg_catalog.cardinality(v_keys) THEN
        RETURN QUERY
        DELETE FROM ${syncguard_locks}_shared l WHERE l.lock_id = ANY (ARRAY(
            SELECT s.lock_id FROM ${syncguard_locks}_shared s
            WHERE s.lock_id = ANY (p_lock_ids)
                AND (s.key IN (SELECT k.key FROM pg_catalog.unnest(v_keys) AS k (key))) IS TRUE
                AND ${syncguard_locks}_is_live(s.expires_at_ms, ${syncguard_locks}_now())
                AND NOT EXISTS (SELECT FROM ${syncguard_locks}_waiters w WHERE w.key = s.key OFFSET 0)
            FOR UPDATE SKIP LOCKED
        )) RETURNING l.lock_id;
    END IF;
END
$function$;

-- Releases a lease, or leaves the queue, and wakes the waiters that can be granted now. Never hands over. The outcome
-- is that of _remove.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_release(p_lock_id TEXT) RETURNS TEXT
LANGUAGE plpgsql AS $function$
DECLARE
    "Removed" RECORD;
BEGIN
    "Removed" := ${syncguard_locks}_remove(p_lock_id);
    IF "Removed".first_waiter IS NOT NULL THEN
        PERFORM ${syncguard_locks}_wake_next("Removed".freed_key);
    END IF;
    RETURN "Removed".outcome;
END
$function$;

-- Releases a lease, and hands the key over to the first waiter if that one accepts a hand-over and no lease is left;
-- otherwise wakes the waiters that can be granted now. Or leaves the queue. The outcome is that of _remove. The caller
-- has to send the message, if there is one, to the channel: the waiter does not know of its grant yet.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_release_grant(
    p_lock_id TEXT, OUT outcome TEXT, OUT channel TEXT, OUT message TEXT
)
LANGUAGE plpgsql
-- As in _acquire_queue.
SET plan_cache_mode = force_generic_plan
AS $function$
DECLARE
    v_durable TEXT := pg_catalog.current_setting('synchronous_commit');
    v_key     TEXT;
    v_first   BIGINT; -- the first waiter
    "Removed" RECORD;
BEGIN
    "Removed" := ${syncguard_locks}_remove(p_lock_id);
    outcome := "Removed".outcome;
    v_key := "Removed".freed_key;
    v_first := "Removed".first_waiter;
    IF v_first IS NULL THEN
        RETURN;
    END IF;

    -- A lapsed reader must not prevent the hand-over.
    PERFORM ${syncguard_locks}_delete_lapsed(v_key, false, true, ${syncguard_locks}_now())
    WHERE EXISTS (SELECT FROM ${syncguard_locks}_shared s WHERE s.key = v_key);

    -- One statement, because all requests for the key wait for it.
    WITH "Entry" AS (
        -- Any shared lease that is left blocks: an extension under way may revive it. The clock is read after the
        -- wait for a renewal under way, so that the grant is younger than every confirmation of the entry.
        DELETE FROM ${syncguard_locks}_waiters w
        WHERE w.key = v_key AND w.arrival = v_first AND w.expires_at_ms > ${syncguard_locks}_now() AND w.hand_over
            AND NOT EXISTS (SELECT FROM ${syncguard_locks}_shared s WHERE s.key = v_key)
        RETURNING w.lock_id, w.channel, w.waiter, w.secret, w.owner, w.ttl_ms, ${syncguard_locks}_now() AS granted_at_ms
    ), "Counter" AS (
        UPDATE ${syncguard_fence_counters} c SET fence = ${syncguard_locks}_fence_after(c.fence, e.granted_at_ms)
        FROM "Entry" e
        WHERE c.fence_key = ${syncguard_locks}_fence_key(v_key) AND c.fence < ${syncguard_locks}_last_fence()
        RETURNING c.fence
    ), "Lease" AS (
        INSERT INTO ${syncguard_locks} (key, lock_id, expires_at_ms, acquired_at_ms, fence, user_key, owner)
        SELECT v_key, e.lock_id, e.granted_at_ms + e.ttl_ms, e.granted_at_ms,
               ${syncguard_locks}_fence_text(c.fence), v_key, e.owner
        FROM "Entry" e, "Counter" c
        RETURNING acquired_at_ms, expires_at_ms
    )
    SELECT e.channel, pg_catalog.concat_ws(' ', e.waiter, e.secret, c.fence, l.acquired_at_ms, l.expires_at_ms)
    INTO channel, message
    FROM "Entry" e, "Counter" c, "Lease" l;
    IF message IS NULL THEN
        PERFORM ${syncguard_locks}_wake_next(v_key);
    ELSE
        -- A grant is durable before it is reported.
        v_durable := pg_catalog.set_config('synchronous_commit', v_durable, true);
    END IF;
END
$function$;

-- Releases as _release_grant does, and sends its message after a commit. The notification has a transaction of its own:
-- a commit that notifies blocks all others that notify, and must not wait for the disk.
CREATE OR REPLACE PROCEDURE ${syncguard_locks}_hand_over(p_lock_id TEXT, INOUT outcome TEXT)
LANGUAGE plpgsql AS $procedure$
DECLARE
    "Released" RECORD;
BEGIN
    "Released" := ${syncguard_locks}_release_grant(p_lock_id);
    outcome := "Released".outcome;
    IF "Released".channel IS NOT NULL THEN
        COMMIT;
        PERFORM pg_catalog.set_config('synchronous_commit', 'off', true);
        PERFORM pg_catalog.pg_notify("Released".channel, "Released".message);
    END IF;
END
$procedure$;

-- Releases the leases and queue entries with these lock ids, as _release does, in one transaction. The answers are in
-- the order of the lock ids.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_release_all(p_lock_ids TEXT[]) RETURNS TABLE (outcome TEXT)
LANGUAGE plpgsql AS $function$
DECLARE
    "Left" RECORD;
    v_left TEXT[] := '{}';
BEGIN
    PERFORM pg_catalog.set_config('synchronous_commit', 'off', true);

    -- All serialising rows first, in the order of their keys: two of these calls in different orders could deadlock.
    PERFORM 1 FROM ${syncguard_fence_counters} c
    WHERE c.fence_key = ANY (ARRAY(
        SELECT ${syncguard_locks}_fence_key(o.key) FROM (
            SELECT l.key, l.lock_id FROM ${syncguard_locks} l
            UNION ALL SELECT s.key, s.lock_id FROM ${syncguard_locks}_shared s
            UNION ALL SELECT w.key, w.lock_id FROM ${syncguard_locks}_waiters w
        ) o WHERE o.lock_id = ANY (p_lock_ids)
    ))
    ORDER BY c.fence_key
    FOR NO KEY UPDATE;

    -- Most of them are queue entries, many of the same key: each key is woken once.
    FOR "Left" IN
        WITH "Deleted" AS (
            DELETE FROM ${syncguard_locks}_waiters w WHERE w.lock_id = ANY (p_lock_ids)
            RETURNING w.key, w.lock_id, w.arrival, w.shared
        )
        SELECT d.key, min(d.arrival) AS arrival, bool_and(d.shared) AS shared,
               pg_catalog.array_agg(d.lock_id) AS lock_ids
        FROM "Deleted" d GROUP BY d.key
    LOOP
        v_left := v_left OPERATOR(pg_catalog.||) "Left".lock_ids;
        PERFORM ${syncguard_locks}_wake_behind("Left".key, "Left".arrival, "Left".shared);
    END LOOP;

    -- The others, and entries that have become leases since the first look.
    RETURN QUERY
    SELECT CASE WHEN r.lock_id = ANY (v_left) THEN 'left' ELSE ${syncguard_locks}_release(r.lock_id) END
    FROM pg_catalog.unnest(p_lock_ids) WITH ORDINALITY AS r (lock_id, position)
    ORDER BY r.position;
END
$function$;

-- Ends all leases of a key at the request of an operator, draws a fence that is larger than theirs, and wakes the
-- waiters that can be granted the key now. A lease whose row a transaction locks remains. drawn_fence is null if no
-- live lease has ended, and 0 if the counter is at its end.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_force_release(
    p_key TEXT, OUT released INTEGER, OUT remaining INTEGER, OUT drawn_fence BIGINT
)
LANGUAGE plpgsql AS $function$
DECLARE
    v_now BIGINT;
BEGIN
    -- The serialising row first, as in _remove. Without a lease the key may have no counter, and gets none.
    PERFORM 1 FROM ${syncguard_fence_counters} c
    WHERE c.fence_key = ${syncguard_locks}_fence_key(p_key)
    FOR NO KEY UPDATE;
    -- After the wait for the row, in which a lease may have lapsed.
    v_now := ${syncguard_locks}_now();

    WITH "Exclusive" AS (
        DELETE FROM ${syncguard_locks} l WHERE l.key = (
            SELECT s.key FROM ${syncguard_locks} s WHERE s.key = p_key FOR UPDATE SKIP LOCKED
        ) RETURNING l.expires_at_ms
    ), "Shared" AS (
        DELETE FROM ${syncguard_locks}_shared l WHERE l.lock_id = ANY (ARRAY(
            SELECT s.lock_id FROM ${syncguard_locks}_shared s WHERE s.key = p_key FOR UPDATE SKIP LOCKED
        )) RETURNING l.expires_at_ms
    )
    SELECT count(*) INTO released FROM (TABLE "Exclusive" UNION ALL TABLE "Shared") AS e
    WHERE ${syncguard_locks}_is_live(e.expires_at_ms, v_now);
    remaining := (SELECT count(*) FROM ${syncguard_locks} l WHERE l.key = p_key)
        + (SELECT count(*) FROM ${syncguard_locks}_shared s WHERE s.key = p_key);
    IF released > 0 THEN
        drawn_fence := ${syncguard_locks}_next_fence(p_key);
        PERFORM ${syncguard_locks}_wake_next(p_key);
    END IF;
END
$function$;

-- Ends a lease so that the key is free p_hold_ms after its grant, or now if that time is over. The outcome is
-- 'released', 'busy', 'expired' or 'not_found'.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_release_after(p_lock_id TEXT, p_hold_ms BIGINT) RETURNS TEXT
LANGUAGE plpgsql AS $function$
DECLARE
    v_key TEXT := ${syncguard_locks}_key_of(p_lock_id);
BEGIN
    IF v_key IS NULL THEN
        RETURN 'not_found';
    END IF;

    -- The serialising row first: a request that is about to queue would not learn the new expiry.
    PERFORM ${syncguard_locks}_lock_key(v_key);

    -- The lock id and the expiry again, under the row lock: the lease may have lapsed, or the key may have another
    -- holder. Under a new lock id, neither a second release nor a late extension reaches the lease. The tolerance is
    -- for a holder that works until the expiry: this one has stopped.
    UPDATE ${syncguard_locks} l
    SET lock_id = 'released:' || l.lock_id,
        expires_at_ms = l.acquired_at_ms + p_hold_ms - ${syncguard_locks}_tolerance()
    WHERE l.key = (
        SELECT s.key FROM ${syncguard_locks} s
        WHERE s.lock_id = p_lock_id AND ${syncguard_locks}_is_live(s.expires_at_ms, ${syncguard_locks}_now())
        FOR UPDATE SKIP LOCKED
    );
    IF NOT FOUND THEN
        UPDATE ${syncguard_locks}_shared l
        SET lock_id = 'released:' || l.lock_id,
            expires_at_ms = l.acquired_at_ms + p_hold_ms - ${syncguard_locks}_tolerance()
        WHERE l.lock_id = (
            SELECT s.lock_id FROM ${syncguard_locks}_shared s
            WHERE s.lock_id = p_lock_id AND ${syncguard_locks}_is_live(s.expires_at_ms, ${syncguard_locks}_now())
            FOR UPDATE SKIP LOCKED
        );
    END IF;
    IF NOT FOUND THEN
        RETURN ${syncguard_locks}_outcome_of(p_lock_id);
    END IF;
    PERFORM ${syncguard_locks}_wake_front(v_key)
    WHERE EXISTS (SELECT FROM ${syncguard_locks}_waiters w WHERE w.key = v_key);
    RETURN 'released';
END
$function$;

-- Locks the serialising rows of the leases that are to end earlier than before, and returns their keys. An extension
-- does not wait: a key whose row another transaction locks is not among them.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_lock_shortened(p_lock_ids TEXT[], p_ttls_ms BIGINT[]) RETURNS TEXT[]
LANGUAGE plpgsql AS $function$
DECLARE
    v_now  BIGINT := ${syncguard_locks}_now();
    v_keys TEXT[] := ARRAY(
        SELECT l.key
        FROM unnest(p_lock_ids, p_ttls_ms) AS w (lock_id, ttl_ms), LATERAL (
            SELECT o.key, o.expires_at_ms FROM ${syncguard_locks} o WHERE o.lock_id = w.lock_id
            UNION ALL SELECT o.key, o.expires_at_ms FROM ${syncguard_locks}_shared o WHERE o.lock_id = w.lock_id
            OFFSET 0
        ) AS l
        WHERE l.expires_at_ms > v_now + w.ttl_ms
    );
BEGIN
    IF v_keys OPERATOR(pg_catalog.=) '{}' THEN
        RETURN v_keys;
    END IF;
    -- The row first: a request that is about to queue would learn the old expiry, and no wake-up would bring the new
    -- one.
    RETURN ${syncguard_locks}_lock_keys(v_keys);
END
$function$;

-- Extends many leases at once. The answers are in the order of the lock ids: 'extended' with the new expiry, 'busy',
-- 'expired' or 'not_found'.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_extend(p_lock_ids TEXT[], p_ttls_ms BIGINT[])
RETURNS TABLE (outcome TEXT, extended_until_ms BIGINT)
LANGUAGE plpgsql AS $function$
DECLARE
    v_shortened TEXT[] := ${syncguard_locks}_lock_shortened(p_lock_ids, p_ttls_ms);
    v_locked    TEXT[];
BEGIN
    -- The weakest lock that an update takes: it passes a transaction that pins the row by FOR KEY SHARE. SKIP LOCKED,
    -- so that one row with another lock does not delay the rest. PostgreSQL still waits for a row that changed since
    -- the statement began: the order, and a statement of its own, prevent a deadlock of calls that extend the same
    -- leases.
    v_locked := ARRAY(
        SELECT l.lock_id FROM ${syncguard_locks} l WHERE l.lock_id = ANY (p_lock_ids)
        ORDER BY l.lock_id FOR NO KEY UPDATE SKIP LOCKED
    ) OPERATOR(pg_catalog.||) ARRAY(
        SELECT l.lock_id FROM ${syncguard_locks}_shared l WHERE l.lock_id = ANY (p_lock_ids)
        ORDER BY l.lock_id FOR NO KEY UPDATE SKIP LOCKED
    );

    RETURN QUERY
    WITH "Wanted" AS (
        SELECT w.lock_id, w.ttl_ms, w.position
        FROM unnest(p_lock_ids, p_ttls_ms) WITH ORDINALITY AS w (lock_id, ttl_ms, position)
    ), "Extended" AS (
        -- The clock is read here, under the row lock: a lease that has lapsed meanwhile is not revived. A lease that
        -- was extended meanwhile is not shortened without the serialising row.
        UPDATE ${syncguard_locks} l SET expires_at_ms = ${syncguard_locks}_now() + w.ttl_ms
        FROM "Wanted" w
        WHERE l.lock_id = ANY (v_locked) AND l.lock_id = w.lock_id
            AND ${syncguard_locks}_is_live(l.expires_at_ms, ${syncguard_locks}_now())
            AND (l.expires_at_ms <= ${syncguard_locks}_now() + w.ttl_ms OR l.key = ANY (v_shortened))
        RETURNING l.lock_id, l.expires_at_ms
    ), "ExtendedShared" AS (
        UPDATE ${syncguard_locks}_shared l SET expires_at_ms = ${syncguard_locks}_now() + w.ttl_ms
        FROM "Wanted" w
        WHERE l.lock_id = ANY (v_locked) AND l.lock_id = w.lock_id
            AND ${syncguard_locks}_is_live(l.expires_at_ms, ${syncguard_locks}_now())
            AND (l.expires_at_ms <= ${syncguard_locks}_now() + w.ttl_ms OR l.key = ANY (v_shortened))
        RETURNING l.lock_id, l.expires_at_ms
    )
    SELECT CASE WHEN e.lock_id IS NULL THEN ${syncguard_locks}_outcome(l.expires_at_ms) ELSE 'extended' END,
           e.expires_at_ms
    FROM "Wanted" w
    LEFT JOIN (TABLE "Extended" UNION ALL TABLE "ExtendedShared") e ON e.lock_id = w.lock_id
    LEFT JOIN LATERAL (
        SELECT o.expires_at_ms FROM ${syncguard_locks} o WHERE o.lock_id = w.lock_id
        UNION ALL SELECT o.expires_at_ms FROM ${syncguard_locks}_shared o WHERE o.lock_id = w.lock_id
        OFFSET 0
    ) AS l ON true
    ORDER BY w.position;

    IF v_shortened OPERATOR(pg_catalog.<>) '{}' THEN
        PERFORM ${syncguard_locks}_wake_front(k.key) FROM pg_catalog.unnest(v_shortened) AS k (key)
        WHERE EXISTS (SELECT FROM ${syncguard_locks}_waiters w WHERE w.key = k.key OFFSET 0);
    END IF;
END
$function$;

-- Extends one exclusive lease, and gives it the next fence of its key. The outcome is 'rotated' with the new expiry and
-- fence, or 'no_fences', 'busy', 'expired' or 'not_found'; then nothing was written.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_rotate(
    p_lock_id TEXT, p_ttl_ms BIGINT, OUT outcome TEXT, OUT rotated_until_ms BIGINT, OUT rotated_fence BIGINT
)
LANGUAGE plpgsql AS $function$
DECLARE
    v_key     TEXT;
    v_expires BIGINT;
    v_now     BIGINT;
BEGIN
    SELECT l.key INTO v_key FROM ${syncguard_locks} l WHERE l.lock_id = p_lock_id;

    -- The serialising row first: a takeover or a release under way would not be seen, and the lease would be written
    -- beside it. SKIP LOCKED, because a holder that rotates must not wait.
    PERFORM 1 FROM ${syncguard_fence_counters} c
    WHERE c.fence_key = ${syncguard_locks}_fence_key(v_key)
    FOR NO KEY UPDATE SKIP LOCKED;
    IF FOUND THEN
        -- The lock id again, under the row lock: the key may have another holder by now. The weakest lock that an
        -- update takes passes a transaction that pins the lease.
        SELECT l.expires_at_ms INTO v_expires FROM ${syncguard_locks} l
        WHERE l.key = v_key AND l.lock_id = p_lock_id
        FOR NO KEY UPDATE SKIP LOCKED;
        -- The clock is read with both rows locked: a lapsed lease is not revived.
        v_now := ${syncguard_locks}_now();
        IF ${syncguard_locks}_is_live(v_expires, v_now) THEN
            UPDATE ${syncguard_fence_counters} c SET fence = ${syncguard_locks}_fence_after(c.fence, v_now)
            WHERE c.fence_key = ${syncguard_locks}_fence_key(v_key) AND c.fence < ${syncguard_locks}_last_fence()
            RETURNING c.fence INTO rotated_fence;
            IF NOT FOUND THEN
                outcome := 'no_fences';
                RETURN;
            END IF;
            rotated_until_ms := v_now + p_ttl_ms;
            UPDATE ${syncguard_locks} l
            SET expires_at_ms = rotated_until_ms, fence = ${syncguard_locks}_fence_text(rotated_fence)
            WHERE l.key = v_key;
            IF rotated_until_ms < v_expires THEN
                PERFORM ${syncguard_locks}_wake_front(v_key);
            END IF;
            outcome := 'rotated';
            RETURN;
        END IF;
    END IF;

    SELECT l.expires_at_ms INTO v_expires FROM ${syncguard_locks} l WHERE l.lock_id = p_lock_id;
    outcome := ${syncguard_locks}_outcome(v_expires);
END
$function$;

-- Deletes the leases of these keys that expired more than twice the tolerance ago, and returns their number. Deletes
-- lapsed queue entries, too, and no counters.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_sweep(p_keys TEXT[]) RETURNS INTEGER
LANGUAGE plpgsql AS $function$
DECLARE
    v_keys   TEXT[];
    v_swept  INTEGER;
    v_shared INTEGER;
BEGIN
    -- A cleanup that is lost in a crash is repeated by the next one.
    PERFORM pg_catalog.set_config('synchronous_commit', 'off', true);

    -- The serialising rows first: an acquire request for one of these keys waits for this short transaction, and is not
    -- refused by a row that is being deleted. Rows in use are skipped.
    v_keys := ${syncguard_locks}_lock_keys(p_keys);

    -- In a fresh snapshot and by a clock read now: a key may have been granted or a lease extended meanwhile.
    DELETE FROM ${syncguard_locks} l WHERE l.key = ANY (ARRAY(
        SELECT s.key FROM ${syncguard_locks} s
        WHERE s.key = ANY (v_keys) AND s.expires_at_ms < ${syncguard_locks}_sweep_before()
        FOR UPDATE SKIP LOCKED
    ));
    GET DIAGNOSTICS v_swept = ROW_COUNT;
    DELETE FROM ${syncguard_locks}_shared l WHERE l.lock_id = ANY (ARRAY(
        SELECT s.lock_id FROM ${syncguard_locks}_shared s
        WHERE s.key = ANY (v_keys) AND s.expires_at_ms < ${syncguard_locks}_sweep_before()
        FOR UPDATE SKIP LOCKED
    ));
    GET DIAGNOSTICS v_shared = ROW_COUNT;

    -- Deletes lapsed queue entries, too, and wakes waiters behind them and waiters for the deleted leases.
    PERFORM ${syncguard_locks}_wake_next(k.key) FROM pg_catalog.unnest(v_keys) AS k (key)
    WHERE EXISTS (SELECT FROM ${syncguard_locks}_waiters w WHERE w.key = k.key OFFSET 0);
    RETURN v_swept + v_shared;
END
$function$;

-- Of these counters, those that are idle: their fences are smaller than p_fence, and their keys have neither leases
-- nor queue entries.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_idle_counters(p_fence_keys TEXT[], p_fence BIGINT) RETURNS TEXT[]
LANGUAGE plpgsql AS $function$
BEGIN
    RETURN ARRAY(
        SELECT c.fence_key FROM ${syncguard_fence_counters} c
        WHERE c.fence_key = ANY (p_fence_keys) AND c.fence < p_fence
            AND NOT EXISTS (
                SELECT FROM ${syncguard_locks} l WHERE l.key = ${syncguard_locks}_key_of_fence(c.fence_key) OFFSET 0)
            AND NOT EXISTS (
                SELECT FROM ${syncguard_locks}_shared s
                WHERE s.key = ${syncguard_locks}_key_of_fence(c.fence_key) OFFSET 0)
            AND NOT EXISTS (
                SELECT FROM ${syncguard_locks}_waiters w
                WHERE w.key = ${syncguard_locks}_key_of_fence(c.fence_key) OFFSET 0)
    );
END
$function$;

-- Deletes the counters that were idle for this time, if fences come from the clock. It looks at the thousand counters
-- behind p_after, and returns the last of them, null if there are none.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_forget(p_after TEXT, p_retention_ms BIGINT) RETURNS TEXT
LANGUAGE plpgsql AS $function$
DECLARE
    -- A fence is at least a hundred times the milliseconds of the clock when it was drawn, or the last that the clock
    -- gives: behind that one, the counter alone makes fences grow.
    v_fence BIGINT := least((${syncguard_locks}_now() - p_retention_ms) * 100, 810000000000000);
    v_page  TEXT[];
    v_idle  TEXT[];
BEGIN
    IF ${syncguard_locks}_fence_source() <> 'clock' THEN
        RETURN NULL;
    END IF;
    PERFORM pg_catalog.set_config('synchronous_commit', 'off', true);

    v_page := ARRAY(
        SELECT c.fence_key FROM ${syncguard_fence_counters} c WHERE c.fence_key > p_after
        ORDER BY c.fence_key LIMIT 1000
    );
    -- The first look takes no lock: most counters are not idle.
    v_idle := ${syncguard_locks}_idle_counters(v_page, v_fence);
    IF v_idle OPERATOR(pg_catalog.<>) '{}' THEN
        -- Of key strength, so that nothing changes the keys until the commit. Rows in use are skipped.
        v_idle := ARRAY(
            SELECT c.fence_key FROM ${syncguard_fence_counters} c WHERE c.fence_key = ANY (v_idle)
            ORDER BY c.fence_key
            FOR UPDATE SKIP LOCKED
        );
        -- Another request may have been granted a key since the first look. Its fence alone would not show that: the
        -- clock may have been set back.
        v_idle := ${syncguard_locks}_idle_counters(v_idle, v_fence);
        DELETE FROM ${syncguard_fence_counters} c WHERE c.fence_key = ANY (v_idle);
    END IF;
    RETURN v_page[pg_catalog.cardinality(v_page)];
END
$function$;

-- The transactions that lock a row, by its xmax: that one, or the members of that multixact. The numbers of both begin at
-- 1, so a wrong one is possible where there have been few transactions. For diagnostics.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_lockers(p_xmax XID) RETURNS SETOF XID
LANGUAGE plpgsql AS $function$
BEGIN
    RETURN NEXT p_xmax;
    BEGIN
        RETURN QUERY SELECT m.xid FROM pg_catalog.pg_get_multixact_members(p_xmax) m;
    EXCEPTION
        WHEN OTHERS THEN
            NULL; -- There is no such multixact.
    END;
END
$function$;

-- The version of the script, which the library checks at its start: it works with this version and later ones. Raise it
-- when the library needs something new.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_version() RETURNS INTEGER
LANGUAGE sql IMMUTABLE AS $function$
    SELECT 2
$function$;
