-- The tables and functions of SyncGuard on PostgreSQL 12 and later. May be run again and again, also while older instances run.
--
-- ${syncguard_locks} and ${syncguard_fence_counters} are the table names, with a schema in front if you like. Flyway and
-- Liquibase put them in as placeholders of these names; for psql, let sed do it:
--   sed -e 's/${syncguard_locks}/syncguard_locks/g' -e 's/${syncguard_fence_counters}/syncguard_fence_counters/g' THIS_FILE | psql
--
-- Which race each predicate closes: docs/postgresql.md. A cached plan that was made while the tables were empty stays in use while
-- they grow. Such a plan must not join tables: it would read all their rows. So many rows are found by = ANY, or one by one in
-- a subquery that OFFSET 0 keeps apart.

-- One row per exclusive lease. A lease, exclusive or shared, is live while expires_at_ms is less than a second ago.
CREATE TABLE IF NOT EXISTS ${syncguard_locks} (
    key            TEXT COLLATE "C" PRIMARY KEY,
    lock_id        TEXT COLLATE "C" NOT NULL UNIQUE,
    expires_at_ms  BIGINT NOT NULL,
    acquired_at_ms BIGINT NOT NULL,
    fence          TEXT NOT NULL,
    user_key       TEXT NOT NULL,
    owner          TEXT
);

-- One row per shared lease.
CREATE TABLE IF NOT EXISTS ${syncguard_locks}_shared (
    lock_id        TEXT COLLATE "C" PRIMARY KEY,
    key            TEXT COLLATE "C" NOT NULL,
    expires_at_ms  BIGINT NOT NULL,
    acquired_at_ms BIGINT NOT NULL,
    fence          TEXT NOT NULL,
    user_key       TEXT NOT NULL,
    owner          TEXT
);

-- One row per caller who waits: the queues of all keys, by order of arrival. A place is a lease, too, without a tolerance.
-- Releases send the number of a waiter to the channel of its process. They grant the key to one who is first, with a lease of
-- first_lease_ms, or null if it has to claim the key itself; that message carries the secret, because everybody may notify.
CREATE TABLE IF NOT EXISTS ${syncguard_locks}_waiters (
    lock_id        TEXT COLLATE "C" PRIMARY KEY,
    key            TEXT COLLATE "C" NOT NULL,
    arrival        BIGINT NOT NULL GENERATED ALWAYS AS IDENTITY,
    shared         BOOLEAN NOT NULL,
    expires_at_ms  BIGINT NOT NULL,
    channel        TEXT,
    waiter         BIGINT NOT NULL,
    owner          TEXT,
    first_lease_ms BIGINT,
    secret         TEXT
) WITH (fillfactor = 70);

-- One row per key that was ever locked, also its serialising row. NEVER delete one: a fence that is used twice protects nothing.
CREATE TABLE IF NOT EXISTS ${syncguard_fence_counters} (
    fence_key TEXT COLLATE "C" PRIMARY KEY,
    fence     BIGINT NOT NULL DEFAULT 0,
    key_debug TEXT
) WITH (fillfactor = 70);

-- Only where they are missing: with IF NOT EXISTS each of these locks its table even when there is nothing to do.
DO $do$
DECLARE
    "Wanted" RECORD;
BEGIN
    FOR "Wanted" IN
        SELECT w.place::regclass AS place, w.columns, w.names
        FROM (VALUES
            ('${syncguard_locks}', 'expires_at_ms', ARRAY['expires_at_ms']),
            ('${syncguard_locks}_shared', 'expires_at_ms', ARRAY['expires_at_ms']),
            ('${syncguard_locks}_shared', 'key, expires_at_ms', ARRAY['key', 'expires_at_ms']),
            ('${syncguard_locks}_waiters', 'key, arrival', ARRAY['key', 'arrival'])
        ) AS w (place, columns, names)
    LOOP
        IF NOT EXISTS (
            SELECT FROM pg_index i
            WHERE i.indrelid = "Wanted".place AND "Wanted".names = ARRAY(
                SELECT a.attname::TEXT FROM unnest(i.indkey) WITH ORDINALITY AS k (attnum, position)
                JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
                ORDER BY k.position
            )
        ) THEN
            EXECUTE format('CREATE INDEX ON %s (%s)', "Wanted".place, "Wanted".columns);
        END IF;
    END LOOP;
END
$do$;

-- The clock that judges every lease, in milliseconds. Read after a row lock was won; now() would be the start of the transaction.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_now() RETURNS BIGINT
LANGUAGE sql VOLATILE AS $function$
    SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::BIGINT
$function$;

-- One attempt. granted_fence is null when it is refused, and 0 when the counter is at its end. A refusal tells people by whom the
-- key is held, of several readers by whom until last; held_since_ms is null where only those who wait are in the way.
--
-- With p_place_ms it is the attempt of a waiter: it takes a place in the queue, or keeps the one that it has, for so long, and
-- time_left_ms says when to look again. Without, it is a try that does not queue; who has a place gives it up. p_queued says
-- that the caller was given a place before, which may be a lease by now.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_claim(
    p_key TEXT, p_fence_key TEXT, p_shared BOOLEAN, p_lock_id TEXT, p_ttl_ms BIGINT, p_user_key TEXT, p_owner TEXT,
    p_queued BOOLEAN, p_place_ms BIGINT, p_first_lease_ms BIGINT, p_channel TEXT, p_waiter BIGINT, p_secret TEXT,
    OUT granted_fence BIGINT, OUT granted_at_ms BIGINT, OUT granted_until_ms BIGINT, OUT time_left_ms BIGINT,
    OUT held_by TEXT, OUT held_since_ms BIGINT, OUT held_by_others BOOLEAN
)
LANGUAGE plpgsql AS $function$
DECLARE
    v_seen      BIGINT; -- the fence when nothing was there
    v_free      BOOLEAN := false; -- nothing was there, and nothing has come
    v_fence     BIGINT;
    v_won       BOOLEAN; -- the serialising row
    v_now       BIGINT;
    v_exclusive BIGINT; -- the end of the exclusive lease
    v_shared    BIGINT; -- the latest end of a shared lease that is in the way
    v_leases    BIGINT; -- when the last of these leases frees the key
    v_arrival   BIGINT; -- the caller's own place
    v_soonest   BIGINT; -- the ends of the places in front that are in the way
    v_latest    BIGINT;
BEGIN
    IF NOT p_queued THEN
        SELECT l.expires_at_ms, l.owner, l.acquired_at_ms INTO v_exclusive, held_by, held_since_ms
        FROM ${syncguard_locks} l WHERE l.key = p_key;
        IF NOT FOUND THEN
            -- To most keys nothing is there. What comes to such a key begins with a grant: while the fence is the one that was seen
            -- then, nothing has come.
            SELECT c.fence INTO v_seen FROM ${syncguard_fence_counters} c
            WHERE c.fence_key = p_fence_key
                AND NOT EXISTS (SELECT FROM ${syncguard_locks} l WHERE l.key = p_key)
                AND NOT EXISTS (SELECT FROM ${syncguard_locks}_shared s WHERE s.key = p_key)
                AND NOT EXISTS (SELECT FROM ${syncguard_locks}_waiters w WHERE w.key = p_key);
            IF FOUND THEN
                UPDATE ${syncguard_fence_counters} c SET fence = c.fence + 1
                WHERE c.fence_key = p_fence_key AND c.fence = v_seen AND c.fence < 900000000000000
                RETURNING c.fence INTO v_fence;
                v_free := FOUND;
            END IF;
        ELSIF p_place_ms IS NULL AND NOT EXISTS (SELECT FROM ${syncguard_locks}_waiters w WHERE w.key = p_key) THEN
            -- Most tries that are refused: somebody has the key, and nobody waits.
            time_left_ms := v_exclusive + 1000 - ${syncguard_locks}_now();
            IF time_left_ms > 0 THEN
                RETURN;
            END IF;
        END IF;
    END IF;
    v_won := v_free;

    -- Who waits or has waited needs the row in any case. Others look without any lock, so that a try that is refused writes
    -- nothing; win the row; look again.
    IF NOT v_won AND (p_queued OR p_place_ms IS NOT NULL) THEN
        PERFORM 1 FROM ${syncguard_fence_counters} c WHERE c.fence_key = p_fence_key FOR NO KEY UPDATE;
        v_won := FOUND;
    END IF;
    IF p_queued THEN
        -- A release has made a lease of the place, and the caller does not know yet.
        PERFORM 1 FROM ${syncguard_locks} l WHERE l.key = p_key AND l.lock_id = p_lock_id FOR NO KEY UPDATE NOWAIT;
        IF FOUND THEN
            UPDATE ${syncguard_locks} l SET expires_at_ms = ${syncguard_locks}_now() + p_ttl_ms
            WHERE l.key = p_key AND l.lock_id = p_lock_id AND l.expires_at_ms > ${syncguard_locks}_now() - 1000
            RETURNING l.fence, l.acquired_at_ms, l.expires_at_ms INTO granted_fence, granted_at_ms, granted_until_ms;
            IF FOUND THEN
                RETURN;
            END IF;
        END IF;
    END IF;
    LOOP
        v_now := ${syncguard_locks}_now();
        EXIT WHEN v_free;
        SELECT l.expires_at_ms, "Last".expires_at_ms, "Own".arrival, "Front".soonest, "Front".latest,
               CASE WHEN l.key IS NULL THEN "Last".owner ELSE l.owner END,
               coalesce(l.acquired_at_ms, "Last".acquired_at_ms),
               EXISTS (
                   SELECT FROM ${syncguard_locks}_shared s
                   WHERE s.key = p_key AND s.lock_id <> "Last".lock_id AND s.expires_at_ms > v_now - 1000
               )
        INTO v_exclusive, v_shared, v_arrival, v_soonest, v_latest, held_by, held_since_ms, held_by_others
        FROM (
            SELECT (
                SELECT w.arrival FROM ${syncguard_locks}_waiters w WHERE w.lock_id = p_lock_id AND w.expires_at_ms > v_now
            ) AS arrival
        ) AS "Own", LATERAL (
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
        v_leases := greatest(v_exclusive, v_shared) + 1000;
        time_left_ms := greatest(v_leases, v_latest) - v_now;
        IF v_leases <= v_now AND v_latest IS NOT NULL THEN
            held_since_ms := NULL;
        END IF;
        EXIT WHEN v_won;

        -- From here to the commit nobody else can grant this key, or join or leave its queue.
        v_won := true;
        IF time_left_ms > 0 THEN
            IF p_place_ms IS NULL AND v_arrival IS NULL THEN
                RETURN;
            END IF;
            PERFORM 1 FROM ${syncguard_fence_counters} c WHERE c.fence_key = p_fence_key FOR NO KEY UPDATE;
        ELSE
            INSERT INTO ${syncguard_fence_counters} AS c (fence_key, fence, key_debug) VALUES (p_fence_key, 1, p_user_key)
            ON CONFLICT (fence_key) DO UPDATE SET fence = c.fence + 1 WHERE c.fence < 900000000000000
            RETURNING c.fence INTO v_fence;
            IF NOT FOUND THEN
                granted_fence := 0;
                RETURN;
            END IF;
        END IF;
    END LOOP;

    -- Lapsed leases are deleted, never passed over: an extension that is still under way would revive one beside ours. Who has
    -- one locked may be committing under it, and is not waited for.
    IF time_left_ms <= 0 AND v_exclusive IS NOT NULL THEN
        DELETE FROM ${syncguard_locks} l WHERE l.key = (
            SELECT s.key FROM ${syncguard_locks} s
            WHERE s.key = p_key AND s.expires_at_ms <= v_now - 1000
            FOR UPDATE SKIP LOCKED
        );
        IF NOT FOUND THEN
            time_left_ms := 50 + floor(random() * 50);
        END IF;
    END IF;
    IF time_left_ms <= 0 AND v_shared IS NOT NULL THEN
        DELETE FROM ${syncguard_locks}_shared l WHERE l.lock_id = ANY (ARRAY(
            SELECT s.lock_id FROM ${syncguard_locks}_shared s
            WHERE s.key = p_key AND s.expires_at_ms <= v_now - 1000
            FOR UPDATE SKIP LOCKED
        ));
        IF EXISTS (SELECT FROM ${syncguard_locks}_shared s WHERE s.key = p_key) THEN
            time_left_ms := 50 + floor(random() * 50);
        END IF;
    END IF;

    IF time_left_ms > 0 THEN
        -- Nothing here is worth waiting for the disk. A fence is given back while nobody can see it.
        PERFORM set_config('synchronous_commit', 'off', true);
        IF v_fence IS NOT NULL THEN
            UPDATE ${syncguard_fence_counters} c SET fence = c.fence - 1 WHERE c.fence_key = p_fence_key;
        END IF;
        IF p_place_ms IS NOT NULL THEN
            IF v_arrival IS NULL THEN
                -- A place that lapsed is lost.
                DELETE FROM ${syncguard_locks}_waiters w WHERE w.lock_id = p_lock_id;
                INSERT INTO ${syncguard_locks}_waiters
                    (lock_id, key, shared, expires_at_ms, channel, waiter, owner, first_lease_ms, secret)
                VALUES (
                    p_lock_id, p_key, p_shared, v_now + p_place_ms, p_channel, p_waiter, p_owner, p_first_lease_ms, p_secret);
            ELSE
                UPDATE ${syncguard_locks}_waiters w SET expires_at_ms = v_now + p_place_ms, waiter = p_waiter, secret = p_secret
                WHERE w.lock_id = p_lock_id;
            END IF;
            -- The next to look for: the first of the leases is over, and the others may have gone by then without a word; or
            -- somebody in front has died.
            time_left_ms := coalesce(
                least(
                    CASE WHEN v_leases > v_now THEN v_leases END,
                    (SELECT min(s.expires_at_ms) + 1000 FROM ${syncguard_locks}_shared s
                     WHERE s.key = p_key AND s.expires_at_ms > v_now - 1000 AND NOT p_shared),
                    v_soonest) - v_now,
                time_left_ms);
        ELSIF v_arrival IS NOT NULL THEN
            DELETE FROM ${syncguard_locks}_waiters w WHERE w.lock_id = p_lock_id;
            PERFORM ${syncguard_locks}_wake(p_key, v_arrival, p_shared);
        END IF;
        RETURN;
    END IF;

    IF v_fence IS NULL THEN
        UPDATE ${syncguard_fence_counters} c SET fence = c.fence + 1
        WHERE c.fence_key = p_fence_key AND c.fence < 900000000000000
        RETURNING c.fence INTO v_fence;
        IF NOT FOUND THEN
            granted_fence := 0;
            RETURN;
        END IF;
    END IF;
    IF NOT v_free THEN
        -- Also a place that lapsed: whoever is just keeping it would leave it behind.
        DELETE FROM ${syncguard_locks}_waiters w WHERE w.lock_id = p_lock_id;
    END IF;
    granted_fence := v_fence;
    granted_at_ms := v_now;
    granted_until_ms := v_now + p_ttl_ms;
    IF p_shared THEN
        INSERT INTO ${syncguard_locks}_shared (lock_id, key, expires_at_ms, acquired_at_ms, fence, user_key, owner)
        VALUES (p_lock_id, p_key, granted_until_ms, granted_at_ms, lpad(v_fence::TEXT, 15, '0'), p_user_key, p_owner);
    ELSE
        INSERT INTO ${syncguard_locks} (key, lock_id, expires_at_ms, acquired_at_ms, fence, user_key, owner)
        VALUES (p_key, p_lock_id, granted_until_ms, granted_at_ms, lpad(v_fence::TEXT, 15, '0'), p_user_key, p_owner);
    END IF;
END
$function$;

-- Wakes the waiters of a key who can go on: nothing live conflicts with them, and nobody who conflicts is in front. The caller
-- has won the serialising row.
--
-- With p_after also those who are first and arrived after that, whatever leases there are: they have to look again, because
-- somebody left from in front of them who knew better than they when to look. Shared ones do not stand in each other's way. With a
-- p_after of 0, because a lease ends earlier, also the first writer behind readers who are first: they may pass it by in silence.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_wake(p_key TEXT, p_after BIGINT, p_after_shared BOOLEAN) RETURNS VOID
LANGUAGE plpgsql AS $function$
DECLARE
    v_now    BIGINT := ${syncguard_locks}_now();
    v_first  BIGINT;
    v_writer BIGINT;
BEGIN
    -- Places that lapsed are deleted, never passed over: one that is just being kept would stand in front of whom we wake.
    DELETE FROM ${syncguard_locks}_waiters w WHERE w.key = p_key AND w.expires_at_ms <= ${syncguard_locks}_now();

    SELECT (SELECT min(w.arrival) FROM ${syncguard_locks}_waiters w WHERE w.key = p_key),
           (SELECT min(w.arrival) FROM ${syncguard_locks}_waiters w WHERE w.key = p_key AND NOT w.shared)
    INTO v_first, v_writer;
    PERFORM pg_notify(w.channel, w.waiter::TEXT)
    FROM ${syncguard_locks}_waiters w
    WHERE w.key = p_key AND w.channel IS NOT NULL
        AND CASE
            WHEN w.shared THEN v_writer IS NULL OR w.arrival < v_writer
            ELSE w.arrival = v_first OR w.arrival = v_writer AND p_after = 0
        END
        AND (
            w.arrival > p_after AND NOT (w.shared AND p_after_shared)
            OR (w.shared OR w.arrival = v_first)
                AND NOT EXISTS (SELECT FROM ${syncguard_locks} l WHERE l.key = p_key AND l.expires_at_ms > v_now - 1000)
                AND (
                    w.shared
                    OR NOT EXISTS (
                        SELECT FROM ${syncguard_locks}_shared s WHERE s.key = p_key AND s.expires_at_ms > v_now - 1000
                    )
                )
        );
END
$function$;

-- Keeps places for so long from now, and answers in the order asked in how many milliseconds to look again: 0 for who can go
-- on, for who has lost the place, and for a place that somebody has locked, who may be making a lease of it. What it looks at may
-- have changed when it answers; the claim looks again.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_keep(p_lock_ids TEXT[], p_place_ms BIGINT) RETURNS TABLE (time_left_ms BIGINT)
LANGUAGE plpgsql AS $function$
DECLARE
    v_now  BIGINT := ${syncguard_locks}_now();
    v_kept TEXT[];
BEGIN
    -- Lost in a crash, it costs fairness only.
    PERFORM set_config('synchronous_commit', 'off', true);

    -- A place that lapsed is lost.
    WITH "Kept" AS (
        UPDATE ${syncguard_locks}_waiters w SET expires_at_ms = v_now + p_place_ms
        WHERE w.lock_id = ANY (ARRAY(
            SELECT s.lock_id FROM ${syncguard_locks}_waiters s
            WHERE s.lock_id = ANY (p_lock_ids) AND s.expires_at_ms > v_now
            FOR NO KEY UPDATE SKIP LOCKED
        ))
        RETURNING w.lock_id
    )
    SELECT array_agg(k.lock_id) INTO v_kept FROM "Kept" k;

    v_now := ${syncguard_locks}_now();
    RETURN QUERY
    WITH "Kept" AS (
        SELECT k.lock_id, (SELECT w.key FROM ${syncguard_locks}_waiters w WHERE w.lock_id = k.lock_id) AS key
        FROM unnest(v_kept) AS k (lock_id)
    ), "Keys" AS (
        SELECT k.key,
               (SELECT l.expires_at_ms FROM ${syncguard_locks} l
                WHERE l.key = k.key AND l.expires_at_ms > v_now - 1000) AS exclusive_until,
               (SELECT min(s.expires_at_ms) FROM ${syncguard_locks}_shared s
                WHERE s.key = k.key AND s.expires_at_ms > v_now - 1000) AS shared_until
        FROM (SELECT DISTINCT w.key FROM "Kept" w) AS k
    ), "Queue" AS (
        SELECT q.lock_id,
               1000 + CASE WHEN q.shared THEN k.exclusive_until ELSE least(k.exclusive_until, k.shared_until) END AS leases,
               min(q.expires_at_ms) FILTER (WHERE NOT q.shared) OVER "InFront" AS writers,
               CASE WHEN NOT q.shared THEN min(q.expires_at_ms) OVER "InFront" END AS everybody
        FROM "Keys" k, LATERAL (
            SELECT w.* FROM ${syncguard_locks}_waiters w WHERE w.key = k.key AND w.expires_at_ms > v_now OFFSET 0
        ) AS q
        WINDOW "InFront" AS (PARTITION BY q.key ORDER BY q.arrival ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
    )
    SELECT coalesce(least(q.leases, q.writers, q.everybody) - v_now, 0)
    FROM unnest(p_lock_ids) WITH ORDINALITY AS w (lock_id, position)
    LEFT JOIN "Kept" k ON k.lock_id = w.lock_id
    LEFT JOIN "Queue" q ON q.lock_id = k.lock_id
    ORDER BY w.position;
END
$function$;

-- Ends what has this lock id: a lease, or a place in the queue. The outcome is 'released', 'left', 'busy', or why there is nothing
-- to end: 'expired' or 'not_found'.
--
-- With p_hand_over the key goes on to the first in the queue, if that one waits for it alone and nothing else is in the way: the
-- place becomes a lease, and the message has to be sent to the channel as soon as that is durable.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_release(
    p_lock_id TEXT, p_hand_over BOOLEAN, OUT outcome TEXT, OUT channel TEXT, OUT message TEXT
)
LANGUAGE plpgsql AS $function$
DECLARE
    -- A release that is lost in a crash only means that the ttl runs out: it need not wait for the disk. Whatever is granted
    -- after it is flushed together with it, because the log is written in order.
    v_durable  TEXT := current_setting('synchronous_commit');
    v_commits  TEXT := set_config('synchronous_commit', 'off', true);
    v_key      TEXT;
    v_user_key TEXT;
    v_expires  BIGINT;
    v_first    BIGINT; -- who waits
    v_arrival  BIGINT; -- the place that was given up
    v_shared   BOOLEAN;
BEGIN
    SELECT l.key INTO v_key FROM ${syncguard_locks} l WHERE l.lock_id = p_lock_id;
    IF NOT FOUND THEN
        -- All in one look: the place that was there at the first one may be a lease by now.
        SELECT o.key INTO v_key FROM (
            SELECT s.key, s.lock_id FROM ${syncguard_locks}_shared s
            UNION ALL SELECT w.key, w.lock_id FROM ${syncguard_locks}_waiters w
            UNION ALL SELECT l.key, l.lock_id FROM ${syncguard_locks} l
        ) o WHERE o.lock_id = p_lock_id;
        IF NOT FOUND THEN
            outcome := 'not_found';
            RETURN;
        END IF;
    END IF;

    -- The serialising row first, like everybody who changes the grants or the queue of a key. PostgreSQL keeps a key as it is,
    -- never hashed: a key has at most 512 bytes, and 1700 fit.
    PERFORM 1 FROM ${syncguard_fence_counters} c WHERE c.fence_key = 'fence:' || v_key FOR NO KEY UPDATE;

    -- The lock id again, now that the row is locked: the lease may be somebody else's by now, and a place may have become a
    -- lease. The clock, too, is read here.
    DELETE FROM ${syncguard_locks} l WHERE l.key = (
        SELECT s.key FROM ${syncguard_locks} s
        WHERE s.lock_id = p_lock_id AND s.expires_at_ms > ${syncguard_locks}_now() - 1000
        FOR UPDATE SKIP LOCKED
    ) RETURNING l.user_key, (SELECT min(w.arrival) FROM ${syncguard_locks}_waiters w WHERE w.key = v_key)
    INTO v_user_key, v_first;
    IF NOT FOUND THEN
        DELETE FROM ${syncguard_locks}_shared l WHERE l.lock_id = (
            SELECT s.lock_id FROM ${syncguard_locks}_shared s
            WHERE s.lock_id = p_lock_id AND s.expires_at_ms > ${syncguard_locks}_now() - 1000
            FOR UPDATE SKIP LOCKED
        ) RETURNING l.user_key, (SELECT min(w.arrival) FROM ${syncguard_locks}_waiters w WHERE w.key = v_key)
        INTO v_user_key, v_first;
    END IF;
    IF FOUND THEN
        IF p_hand_over AND v_first IS NOT NULL THEN
            WITH "Place" AS (
                -- Readers who lapsed are left to the claim. The clock is read again after the wait for who is just keeping the
                -- place, so that the grant is younger than whatever confirms the place.
                DELETE FROM ${syncguard_locks}_waiters w
                WHERE w.key = v_key AND w.arrival = v_first AND w.expires_at_ms > ${syncguard_locks}_now()
                    AND w.first_lease_ms IS NOT NULL
                    AND NOT EXISTS (SELECT FROM ${syncguard_locks}_shared s WHERE s.key = v_key)
                RETURNING
                    w.lock_id, w.channel, w.waiter, w.secret, w.owner, w.first_lease_ms, ${syncguard_locks}_now() AS granted_at_ms
            ), "Counter" AS (
                UPDATE ${syncguard_fence_counters} c SET fence = c.fence + 1 FROM "Place"
                WHERE c.fence_key = 'fence:' || v_key AND c.fence < 900000000000000
                RETURNING c.fence
            ), "Lease" AS (
                INSERT INTO ${syncguard_locks} (key, lock_id, expires_at_ms, acquired_at_ms, fence, user_key, owner)
                SELECT
                    v_key, p.lock_id, p.granted_at_ms + p.first_lease_ms, p.granted_at_ms, lpad(c.fence::TEXT, 15, '0'), v_user_key, p.owner
                FROM "Place" p, "Counter" c
                RETURNING acquired_at_ms, expires_at_ms
            )
            SELECT p.channel, concat_ws(' ', p.waiter, p.secret, c.fence, l.acquired_at_ms, l.expires_at_ms) INTO channel, message
            FROM "Place" p, "Counter" c, "Lease" l;
        END IF;
        IF message IS NOT NULL THEN
            v_commits := set_config('synchronous_commit', v_durable, true);
        ELSIF v_first IS NOT NULL THEN
            PERFORM ${syncguard_locks}_wake(v_key, NULL, NULL);
        END IF;
        outcome := 'released';
        RETURN;
    END IF;
    DELETE FROM ${syncguard_locks}_waiters w WHERE w.lock_id = p_lock_id RETURNING w.arrival, w.shared INTO v_arrival, v_shared;
    IF FOUND THEN
        PERFORM ${syncguard_locks}_wake(v_key, v_arrival, v_shared);
        outcome := 'left';
        RETURN;
    END IF;

    v_expires := coalesce(
        (SELECT l.expires_at_ms FROM ${syncguard_locks} l WHERE l.lock_id = p_lock_id),
        (SELECT s.expires_at_ms FROM ${syncguard_locks}_shared s WHERE s.lock_id = p_lock_id));
    outcome := CASE
                   WHEN v_expires IS NULL THEN 'not_found'
                   WHEN v_expires > ${syncguard_locks}_now() - 1000 THEN 'busy'
                   ELSE 'expired'
               END;
END
$function$;

-- Releases, and hands the key over. A commit that notifies holds up all others that notify: it must not wait for the disk.
CREATE OR REPLACE PROCEDURE ${syncguard_locks}_hand_over(p_lock_id TEXT, INOUT outcome TEXT)
LANGUAGE plpgsql AS $procedure$
DECLARE
    "Released" RECORD;
BEGIN
    "Released" := ${syncguard_locks}_release(p_lock_id, true);
    outcome := "Released".outcome;
    IF "Released".channel IS NOT NULL THEN
        COMMIT;
        PERFORM set_config('synchronous_commit', 'off', true);
        PERFORM pg_notify("Released".channel, "Released".message);
    END IF;
END
$procedure$;

-- Ends what has these lock ids, each by itself and answered in the order asked: as _release does without a hand-over, and all of it
-- in one transaction.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_release_all(p_lock_ids TEXT[]) RETURNS TABLE (outcome TEXT)
LANGUAGE plpgsql AS $function$
DECLARE
    "Left" RECORD;
    v_left TEXT[] := '{}';
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);

    -- All serialising rows first, in the order of their keys: two of these calls in another order would be a deadlock.
    PERFORM 1 FROM ${syncguard_fence_counters} c
    WHERE c.fence_key = ANY (ARRAY(
        SELECT 'fence:' || o.key FROM (
            SELECT l.key, l.lock_id FROM ${syncguard_locks} l
            UNION ALL SELECT s.key, s.lock_id FROM ${syncguard_locks}_shared s
            UNION ALL SELECT w.key, w.lock_id FROM ${syncguard_locks}_waiters w
        ) o WHERE o.lock_id = ANY (p_lock_ids)
    ))
    ORDER BY c.fence_key
    FOR NO KEY UPDATE;

    -- Most of them wait, many for the same key: each key is woken once.
    FOR "Left" IN
        WITH "Deleted" AS (
            DELETE FROM ${syncguard_locks}_waiters w WHERE w.lock_id = ANY (p_lock_ids)
            RETURNING w.key, w.lock_id, w.arrival, w.shared
        )
        SELECT d.key, min(d.arrival) AS arrival, bool_and(d.shared) AS shared, array_agg(d.lock_id) AS lock_ids
        FROM "Deleted" d GROUP BY d.key
    LOOP
        v_left := v_left || "Left".lock_ids;
        PERFORM ${syncguard_locks}_wake("Left".key, "Left".arrival, "Left".shared);
    END LOOP;

    -- The others, and what has become a lease since the first look.
    RETURN QUERY
    SELECT CASE WHEN r.lock_id = ANY (v_left) THEN 'left' ELSE (${syncguard_locks}_release(r.lock_id, false)).outcome END
    FROM unnest(p_lock_ids) WITH ORDINALITY AS r (lock_id, position)
    ORDER BY r.position;
END
$function$;

-- Ends a lease so that the key is free so long after its grant, or now if that is over. The outcome is 'released', 'busy', 'expired'
-- or 'not_found'.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_release_after(p_lock_id TEXT, p_hold_ms BIGINT) RETURNS TEXT
LANGUAGE plpgsql AS $function$
DECLARE
    v_key     TEXT;
    v_expires BIGINT;
BEGIN
    SELECT coalesce(
        (SELECT l.key FROM ${syncguard_locks} l WHERE l.lock_id = p_lock_id),
        (SELECT s.key FROM ${syncguard_locks}_shared s WHERE s.lock_id = p_lock_id)) INTO v_key;

    -- The serialising row first: who is about to queue has to be told of the new end.
    PERFORM 1 FROM ${syncguard_fence_counters} c WHERE c.fence_key = 'fence:' || v_key FOR NO KEY UPDATE;

    -- The lock id and the expiry again, now that the row is locked. Under another lock id nobody can release the lease again, and an
    -- extension that comes late does not make it longer. The tolerance is for a holder who stops at the end of the lease: this one
    -- has stopped.
    UPDATE ${syncguard_locks} l
    SET lock_id = 'released:' || l.lock_id, expires_at_ms = l.acquired_at_ms + p_hold_ms - 1000
    WHERE l.key = (
        SELECT s.key FROM ${syncguard_locks} s
        WHERE s.lock_id = p_lock_id AND s.expires_at_ms > ${syncguard_locks}_now() - 1000
        FOR UPDATE SKIP LOCKED
    );
    IF NOT FOUND THEN
        UPDATE ${syncguard_locks}_shared l
        SET lock_id = 'released:' || l.lock_id, expires_at_ms = l.acquired_at_ms + p_hold_ms - 1000
        WHERE l.lock_id = (
            SELECT s.lock_id FROM ${syncguard_locks}_shared s
            WHERE s.lock_id = p_lock_id AND s.expires_at_ms > ${syncguard_locks}_now() - 1000
            FOR UPDATE SKIP LOCKED
        );
    END IF;
    IF FOUND THEN
        PERFORM ${syncguard_locks}_wake(v_key, 0, false)
        WHERE EXISTS (SELECT FROM ${syncguard_locks}_waiters w WHERE w.key = v_key);
        RETURN 'released';
    END IF;

    v_expires := coalesce(
        (SELECT l.expires_at_ms FROM ${syncguard_locks} l WHERE l.lock_id = p_lock_id),
        (SELECT s.expires_at_ms FROM ${syncguard_locks}_shared s WHERE s.lock_id = p_lock_id));
    RETURN CASE
               WHEN v_expires IS NULL THEN 'not_found'
               WHEN v_expires > ${syncguard_locks}_now() - 1000 THEN 'busy'
               ELSE 'expired'
           END;
END
$function$;

-- Many leases at once, answered one by one in the order asked: 'extended' with the new end, 'busy', 'expired' or 'not_found'.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_extend(p_lock_ids TEXT[], p_ttls_ms BIGINT[])
RETURNS TABLE (outcome TEXT, extended_until_ms BIGINT)
LANGUAGE plpgsql AS $function$
DECLARE
    v_now    BIGINT := ${syncguard_locks}_now();
    v_sooner TEXT[]; -- the keys whose leases may be made to end earlier
    v_free   TEXT[]; -- the leases that nobody else has locked
BEGIN
    v_sooner := ARRAY(
        SELECT l.key
        FROM unnest(p_lock_ids, p_ttls_ms) AS w (lock_id, ttl_ms), LATERAL (
            SELECT o.key, o.expires_at_ms FROM ${syncguard_locks} o WHERE o.lock_id = w.lock_id
            UNION ALL SELECT o.key, o.expires_at_ms FROM ${syncguard_locks}_shared o WHERE o.lock_id = w.lock_id
            OFFSET 0
        ) AS l
        WHERE l.expires_at_ms > v_now + w.ttl_ms
    );
    IF v_sooner <> '{}' THEN
        -- Who waits for a lease that is to end earlier has to know. No one who queues can miss it, because the serialising row is
        -- won first, as by everybody; but an extension waits for nobody, and is busy where somebody else has it.
        v_sooner := ARRAY(
            SELECT substr(c.fence_key, 7) FROM ${syncguard_fence_counters} c
            WHERE c.fence_key = ANY (ARRAY(SELECT 'fence:' || k.key FROM unnest(v_sooner) AS k (key)))
            ORDER BY c.fence_key
            FOR NO KEY UPDATE SKIP LOCKED
        );
    END IF;

    -- The weakest lock that an update takes: it passes a guarded commit that pins the row by FOR KEY SHARE. One row that is
    -- locked otherwise does not hold up the rest. PostgreSQL waits all the same for a row that changed since the statement began:
    -- the order, and a statement of its own, keep those who extend the same leases out of a deadlock.
    v_free := ARRAY(
        SELECT l.lock_id FROM ${syncguard_locks} l WHERE l.lock_id = ANY (p_lock_ids)
        ORDER BY l.lock_id FOR NO KEY UPDATE SKIP LOCKED
    ) || ARRAY(
        SELECT l.lock_id FROM ${syncguard_locks}_shared l WHERE l.lock_id = ANY (p_lock_ids)
        ORDER BY l.lock_id FOR NO KEY UPDATE SKIP LOCKED
    );

    -- In quotes and with a capital, which no table name has: a table may be called "free".
    RETURN QUERY
    WITH "Wanted" AS (
        SELECT w.lock_id, w.ttl_ms, w.position
        FROM unnest(p_lock_ids, p_ttls_ms) WITH ORDINALITY AS w (lock_id, ttl_ms, position)
    ), "Extended" AS (
        -- The clock is read here, with the row lock won: what has lapsed meanwhile is not revived. What was made longer meanwhile
        -- is not made shorter behind the back of those who wait.
        UPDATE ${syncguard_locks} l SET expires_at_ms = ${syncguard_locks}_now() + w.ttl_ms
        FROM "Wanted" w
        WHERE l.lock_id = ANY (v_free) AND l.lock_id = w.lock_id AND l.expires_at_ms > ${syncguard_locks}_now() - 1000
            AND (l.expires_at_ms <= ${syncguard_locks}_now() + w.ttl_ms OR l.key = ANY (v_sooner))
        RETURNING l.lock_id, l.expires_at_ms
    ), "ExtendedShared" AS (
        UPDATE ${syncguard_locks}_shared l SET expires_at_ms = ${syncguard_locks}_now() + w.ttl_ms
        FROM "Wanted" w
        WHERE l.lock_id = ANY (v_free) AND l.lock_id = w.lock_id AND l.expires_at_ms > ${syncguard_locks}_now() - 1000
            AND (l.expires_at_ms <= ${syncguard_locks}_now() + w.ttl_ms OR l.key = ANY (v_sooner))
        RETURNING l.lock_id, l.expires_at_ms
    )
    SELECT CASE
               WHEN e.lock_id IS NOT NULL THEN 'extended'
               WHEN l.expires_at_ms IS NULL THEN 'not_found'
               WHEN l.expires_at_ms > ${syncguard_locks}_now() - 1000 THEN 'busy'
               ELSE 'expired'
           END,
           e.expires_at_ms
    FROM "Wanted" w
    LEFT JOIN (TABLE "Extended" UNION ALL TABLE "ExtendedShared") e ON e.lock_id = w.lock_id
    LEFT JOIN LATERAL (
        SELECT o.expires_at_ms FROM ${syncguard_locks} o WHERE o.lock_id = w.lock_id
        UNION ALL SELECT o.expires_at_ms FROM ${syncguard_locks}_shared o WHERE o.lock_id = w.lock_id
        OFFSET 0
    ) AS l ON true
    ORDER BY w.position;

    PERFORM ${syncguard_locks}_wake(k.key, 0, false) FROM unnest(v_sooner) AS k (key)
    WHERE EXISTS (SELECT FROM ${syncguard_locks}_waiters w WHERE w.key = k.key OFFSET 0);
END
$function$;

-- Extends one exclusive lease, which also takes the next fence of its key. The outcome is 'rotated' with the new end and fence, or
-- 'no_fences', 'busy', 'expired' or 'not_found', and then nothing was written.
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

    -- The serialising row first, like everybody who draws a fence; but it goes out on the connection of the heartbeats, which waits
    -- for nobody.
    PERFORM 1 FROM ${syncguard_fence_counters} c WHERE c.fence_key = 'fence:' || v_key FOR NO KEY UPDATE SKIP LOCKED;
    IF FOUND THEN
        -- The lock id again, now that the row is locked: the lease may be somebody else's by now. The weakest lock that an update
        -- takes passes a transaction that has pinned the lease.
        SELECT l.expires_at_ms INTO v_expires FROM ${syncguard_locks} l
        WHERE l.key = v_key AND l.lock_id = p_lock_id
        FOR NO KEY UPDATE SKIP LOCKED;
        v_now := ${syncguard_locks}_now();
        IF v_expires > v_now - 1000 THEN
            UPDATE ${syncguard_fence_counters} c SET fence = c.fence + 1
            WHERE c.fence_key = 'fence:' || v_key AND c.fence < 900000000000000
            RETURNING c.fence INTO rotated_fence;
            IF NOT FOUND THEN
                outcome := 'no_fences';
                RETURN;
            END IF;
            rotated_until_ms := v_now + p_ttl_ms;
            UPDATE ${syncguard_locks} l SET expires_at_ms = rotated_until_ms, fence = lpad(rotated_fence::TEXT, 15, '0')
            WHERE l.key = v_key;
            IF rotated_until_ms < v_expires THEN
                PERFORM ${syncguard_locks}_wake(v_key, 0, false);
            END IF;
            outcome := 'rotated';
            RETURN;
        END IF;
    END IF;

    SELECT l.expires_at_ms INTO v_expires FROM ${syncguard_locks} l WHERE l.lock_id = p_lock_id;
    outcome := CASE
                   WHEN v_expires IS NULL THEN 'not_found'
                   WHEN v_expires > ${syncguard_locks}_now() - 1000 THEN 'busy'
                   ELSE 'expired'
               END;
END
$function$;

-- Deletes those leases of these keys that lapsed more than two seconds ago, and answers how many; places that lapsed, too.
-- Counters are out of its reach.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_sweep(p_keys TEXT[]) RETURNS INTEGER
LANGUAGE plpgsql AS $function$
DECLARE
    v_keys   TEXT[];
    v_swept  INTEGER;
    v_shared INTEGER;
BEGIN
    -- Lost in a crash, it is done again.
    PERFORM set_config('synchronous_commit', 'off', true);

    -- The serialising rows first, like everybody who changes the grants of a key: whoever acquires one of these keys waits for
    -- this short transaction, and does not mistake the row that is being deleted for contention. What is in use is left alone.
    v_keys := ARRAY(
        SELECT substr(c.fence_key, 7) FROM ${syncguard_fence_counters} c
        WHERE c.fence_key = ANY (ARRAY(SELECT 'fence:' || k.key FROM unnest(p_keys) AS k (key)))
        ORDER BY c.fence_key
        FOR NO KEY UPDATE SKIP LOCKED
    );

    -- In a fresh snapshot and by a clock read now: one of them may have been granted again meanwhile.
    DELETE FROM ${syncguard_locks} l WHERE l.key = ANY (ARRAY(
        SELECT s.key FROM ${syncguard_locks} s
        WHERE s.key = ANY (v_keys) AND s.expires_at_ms < ${syncguard_locks}_now() - 2000
        FOR UPDATE SKIP LOCKED
    ));
    GET DIAGNOSTICS v_swept = ROW_COUNT;
    DELETE FROM ${syncguard_locks}_shared l WHERE l.lock_id = ANY (ARRAY(
        SELECT s.lock_id FROM ${syncguard_locks}_shared s
        WHERE s.key = ANY (v_keys) AND s.expires_at_ms < ${syncguard_locks}_now() - 2000
        FOR UPDATE SKIP LOCKED
    ));
    GET DIAGNOSTICS v_shared = ROW_COUNT;

    -- Deletes the places that lapsed, and wakes who stands behind them or waits for what has gone.
    PERFORM ${syncguard_locks}_wake(k.key, NULL, NULL) FROM unnest(v_keys) AS k (key)
    WHERE EXISTS (SELECT FROM ${syncguard_locks}_waiters w WHERE w.key = k.key OFFSET 0);
    RETURN v_swept + v_shared;
END
$function$;

-- What the library asks at its start. It works with this version and later ones; raised when it needs something new from here.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_version() RETURNS INTEGER
LANGUAGE sql IMMUTABLE AS $function$
    SELECT 1
$function$;
