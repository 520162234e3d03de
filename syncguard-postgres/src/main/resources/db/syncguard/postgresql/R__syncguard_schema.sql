-- The tables and functions of SyncGuard on PostgreSQL 12 and later. This script may be run repeatedly, also while older
-- instances run.
--
-- ${syncguard_locks} and ${syncguard_fence_counters} are the table names, with an optional schema in front;
-- ${syncguard_fence_source} is counter or clock. Flyway and Liquibase replace the placeholders of these names; for
-- psql, sed does (to name a schema, write schema.\1 for \1):
--   sed -E 's/[$][{](syncguard_(locks|fence_counters))}/\1/g; s/[$][{]syncguard_fence_source}/counter/g' FILE | psql
-- An application with the property syncguard.postgres.schema-script writes it with the names of its tables.
--
-- A user that only locks needs USAGE on the schema, EXECUTE on the functions (every user has it unless it was revoked
-- from PUBLIC, as docs/security.md does), and these rights:
--   GRANT SELECT, INSERT, UPDATE, DELETE ON ${syncguard_locks}, ${syncguard_locks}_shared TO ...
--   GRANT SELECT, INSERT, UPDATE, DELETE ON ${syncguard_locks}_waiters TO ...
--   GRANT SELECT, INSERT, UPDATE, DELETE ON ${syncguard_fence_counters} TO ... (DELETE only for fences by the clock)
--
-- docs/internals/postgresql.md has the overview. Words of this script:
-- * A lease is a lock that somebody holds: exclusive (of a writer) or shared (of a reader). It is live until one
--   second, the tolerance, after its expiry. Then it has lapsed, and its row stays until somebody deletes it.
-- * A fence is a number that grows with each grant of a key.
-- * The serialising row of a key is its row in the table of fence counters. A transaction locks it before it grants or
--   releases the key, or changes the queue of the key.
-- * A waiter is a caller with a queue entry. The table of the queue explains permits and wake-ups.
-- * A hand-over is a release that grants the key to the first waiter.
-- * A transaction of the application pins a lease: it locks the row until its commit, so that nobody deletes the lease.
--
-- The functions stand in these parts, behind the tables. In each part, a function stands before those that it calls.
-- * Short functions in SQL, which all others use.
-- * Acquire: _acquire_free grants most keys. Otherwise _acquire answers: it calls _lock_key, _own_lease, _blockers,
--   _delete_lapsed, _next_fence and _grant; when a request leaves the queue, also _leave and _wake_beside.
-- * Acquire many: _acquire_readers calls _free_readers, and _acquire_batch for the rest. _acquire_batch calls
--   _acquire_free_batch, and _acquire for the rest. _acquire_together has the keys of one caller.
-- * Release and hand-over: _delete_lease ends most leases. Otherwise _hand_over releases the key: it makes an
--   exclusive lease that of the first waiter. If it cannot, it calls _delete_lease and _hand_out, which grants leases.
--   _message tells a waiter of its grant. _queue_and_hand_over lets callers queue before. _release wakes waiters only.
-- * Queue: _renew_waiters, _leave and _wake.
-- * All else: _extend, _rotate, _force_release, _sweep, _forget, _lockers and _version.
--
-- Rules for all functions:
-- * A plan that was cached while the tables were empty stays in use while they grow. Such a plan must not join tables:
--   it would read all their rows. So the functions find many rows by = ANY (ARRAY(...)), or one by one in a subquery
--   that OFFSET 0 or a row lock separates.
-- * Each statement in a VOLATILE function sees what was committed before it began. A function that looks again under a
--   row lock must stay VOLATILE.
-- * The planner inlines the first functions, which are in SQL, so they cost nothing. They must stay one expression, and
--   STABLE: the planner would run an IMMUTABLE one, as a statement, whenever its arguments are known.
-- * The others are called by an assignment if they are called often: PERFORM is a query of its own. Functions of
--   PostgreSQL are called by PERFORM.
-- * Somebody else may be allowed to create functions and operators in the schema of the tables, as in "public" before
--   PostgreSQL 15, and PostgreSQL prefers one whose parameters fit a call better. The sessions of the library look into
--   pg_catalog first. So each call has the types of the parameters exactly, and is then resolved in pg_catalog or to a
--   function of this script; a call that has not, such as one with a parameter of any type, names pg_catalog. The
--   blocks and the tables name it always: they run under the search path of the session that runs the script.
-- * The name of the table may have 48 bytes of 63, so a suffix has 15 at most. The table may be called "wanted": CTEs
--   and record variables are in quotes and have a capital.

-- All is in one block, so it is one transaction in every tool: psql would commit each statement, and release the lock
-- that keeps others from running the script. Without a limit, the script waits a minute for each lock.
DO $script$
DECLARE
    "Unlimited" pg_catalog.bool := pg_catalog.current_setting('lock_timeout') OPERATOR(pg_catalog.=) '0';
BEGIN
IF "Unlimited" THEN
    PERFORM pg_catalog.set_config('lock_timeout', '1min', true);
END IF;

-- Refuses, before it changes anything: a search path on which other types are in front of those of PostgreSQL; objects
-- with names of this script that belong to a stranger, whose code would run with the rights of whoever locks; and the
-- change from clock to counter, after which a counter that was forgotten would begin at 1 again.
--
-- No stranger is the user who runs the script or a role whose rights it inherits, a superuser, and a role with the
-- rights of the owner of the schema or of the database. A user who may not create in the schema locks with what another
-- one has created: the owner of the leases is no stranger to it. The library checks the same at each start, so it reads
-- the query from here. Other parameters than those of this list make another function, which nothing calls.
DECLARE
    "Foreign" pg_catalog.record;
BEGIN
    IF EXISTS (
        SELECT FROM pg_catalog.pg_type
        WHERE typnamespace OPERATOR(pg_catalog.=) 'pg_catalog'::pg_catalog.regnamespace
            AND NOT pg_catalog.pg_type_is_visible(oid)
    ) THEN
        RAISE EXCEPTION 'The search path finds another type in front of one of PostgreSQL'
        USING ERRCODE = 'invalid_parameter_value', HINT = 'Put pg_catalog first in the search path.';
    END IF;

    FOR "Foreign" IN
        WITH "Home" AS (
            SELECT coalesce(
                (SELECT relnamespace FROM pg_catalog.pg_class
                 WHERE oid OPERATOR(pg_catalog.=) pg_catalog.to_regclass('${syncguard_locks}')),
                pg_catalog.to_regnamespace(CASE
                    WHEN pg_catalog.strpos('${syncguard_locks}', '.') OPERATOR(pg_catalog.>) 0
                        THEN pg_catalog.split_part('${syncguard_locks}', '.', 1)
                    ELSE pg_catalog.quote_ident(pg_catalog.current_schema()::pg_catalog.text)
                END)::pg_catalog.oid
            ) AS oid, (
                SELECT relowner FROM pg_catalog.pg_class
                WHERE oid OPERATOR(pg_catalog.=) pg_catalog.to_regclass('${syncguard_locks}')
            ) AS owner
        ), "Relation" AS (
            SELECT c.oid, c.relname, c.relowner, c.relkind
            FROM pg_catalog.unnest(ARRAY[
                '${syncguard_locks}', '${syncguard_locks}_shared', '${syncguard_locks}_waiters',
                '${syncguard_fence_counters}', '${syncguard_locks}_waiters_arrival_seq', '${syncguard_locks}_pkey',
                '${syncguard_locks}_lock_id_key', '${syncguard_locks}_expires_at_ms_idx',
                '${syncguard_locks}_shared_pkey', '${syncguard_locks}_shared_expires_at_ms_idx',
                '${syncguard_locks}_shared_key_expires_at_ms_idx', '${syncguard_locks}_waiters_pkey',
                '${syncguard_locks}_waiters_key_arrival_idx', '${syncguard_fence_counters}_pkey'
            ]) AS w (name)
            JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) pg_catalog.to_regclass(w.name)
        ), "Found" (kind, name, owner) AS (
            SELECT CASE WHEN relkind OPERATOR(pg_catalog.=) 'r' THEN 'table' ELSE 'relation' END,
                relname::pg_catalog.text, relowner
            FROM "Relation"
            UNION ALL
            SELECT 'type', t.typname::pg_catalog.text, t.typowner
            FROM "Home" h JOIN pg_catalog.pg_type t ON t.typnamespace OPERATOR(pg_catalog.=) h.oid
            WHERE t.typname::pg_catalog.text OPERATOR(pg_catalog.=) ANY (ARRAY(
                SELECT pg_catalog.lower(pg_catalog.regexp_replace(w.name, '^.*[.]', ''))
                FROM pg_catalog.unnest(ARRAY[
                    '${syncguard_locks}', '${syncguard_locks}_shared', '${syncguard_locks}_waiters',
                    '${syncguard_locks}_answer', '${syncguard_fence_counters}'
                ]) AS w (name)))
            UNION ALL
            SELECT 'function', p.oid::pg_catalog.regprocedure::pg_catalog.text, p.proowner
            FROM pg_catalog.regexp_split_to_table(pg_catalog.btrim('
        acquire(text,bool,int4,text,int8,text,bool,int8,int8,bool,text,text,int8)
        acquire_batch(text[],text[],int8[],text[],bool[],int8[],text[],bool[],int8,text,bool,int4[])
        acquire_free(text,text,int8,text) acquire_free_batch(text[],text[],int8[],text[])
        acquire_readers(text[],int4[],text[],int8[],text[],bool[],int8[],text[],bool[],int8,text)
        acquire_together(text[],bool[],int4[],text[],int8[],text[],text) blockers(text,int4,text)
        delete_lapsed(text,bool,int4,int8) delete_lease(text,text,bool) extend(text[],int8[]) fence_after(int8,int8)
        fence_counters() fence_key(text) fence_source() fence_text(int8) force_release(text,int8) forget(text,int8)
        free_readers(text[],int4[]) grant(text,bool,text,int8,text,int8) hand_out(text)
        hand_over(text,text,text,bool,int8,text,int8[]) idle_counters(text[],int8) is_live(int8,int8) key_of(text)
        key_of_fence(text) last_fence() leave(text[]) lock_key(text,bool) lock_keys(text[]) lockers(xid)
        message(text,int8[]) next_fence(text) now() outcome(int8) outcome_of(text) own_lease(text,bool,text,int8)
        poll(int8)
        queue_and_hand_over(text,text,bool,text,text[],bool[],int4[],text[],int8[],text[],bool[],int8,text,int8[],bool)
        release(text) release_after(text,int8) release_all(text[]) release_batch(text[],text) renew_waiters(text[])
        rotate(text,int8) sweep(text[]) sweep_before() tolerance() version() wake(text,int8,int4)
        wake_beside(text,int4)
            ', E' \r\n'), '[[:space:]]+') AS w (signature)
            JOIN pg_catalog.pg_proc p ON p.oid OPERATOR(pg_catalog.=)
                pg_catalog.to_regprocedure('${syncguard_locks}_' OPERATOR(pg_catalog.||) w.signature)
            UNION ALL
            SELECT 'function of the trigger ' OPERATOR(pg_catalog.||) t.tgname::pg_catalog.text,
                p.oid::pg_catalog.regprocedure::pg_catalog.text, p.proowner
            FROM "Relation" r
            JOIN pg_catalog.pg_trigger t ON t.tgrelid OPERATOR(pg_catalog.=) r.oid AND NOT t.tgisinternal
            JOIN pg_catalog.pg_proc p ON p.oid OPERATOR(pg_catalog.=) t.tgfoid
        )
        SELECT f.kind, f.name, o.rolname AS owner, current_user AS me,
            pg_catalog.quote_ident(n.nspname::pg_catalog.text) AS home
        FROM "Found" f
        JOIN pg_catalog.pg_roles o ON o.oid OPERATOR(pg_catalog.=) f.owner
        JOIN pg_catalog.pg_roles m ON m.rolname OPERATOR(pg_catalog.=) current_user
        JOIN pg_catalog.pg_database d ON d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()
        CROSS JOIN "Home" h
        LEFT JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) h.oid
        WHERE (o.rolsuper OR o.oid OPERATOR(pg_catalog.=) m.oid
            OR NOT m.rolsuper AND pg_catalog.pg_has_role(m.oid, o.oid, 'USAGE'::pg_catalog.text)
            OR pg_catalog.pg_has_role(o.oid, n.nspowner, 'MEMBER'::pg_catalog.text)
            OR pg_catalog.pg_has_role(o.oid, d.datdba, 'MEMBER'::pg_catalog.text)
            OR o.oid OPERATOR(pg_catalog.=) h.owner
                AND NOT pg_catalog.has_schema_privilege(n.oid, 'CREATE'::pg_catalog.text)) IS NOT TRUE
        LIMIT 1
    LOOP
        RAISE EXCEPTION 'The % % of SyncGuard belongs to %, whose code would run with the rights of others',
            "Foreign".kind, "Foreign".name, "Foreign".owner
        USING ERRCODE = 'insufficient_privilege',
              HINT = 'Drop it if somebody else has put it there; otherwise make its owner the owner of the schema.';
    END LOOP;

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
END;

-- One row per exclusive lease. UNIQUE makes a new lock id a change of key strength, which a pin of the row blocks.
--
-- The table also lets one session at a time run this script, without a lock that others could take: the second one to
-- create it waits for the first, and the mode of the lock conflicts with itself, but with no lock operation.
BEGIN
    BEGIN
        CREATE TABLE IF NOT EXISTS ${syncguard_locks} (
            key            TEXT COLLATE pg_catalog."C" PRIMARY KEY,
            lock_id        TEXT COLLATE pg_catalog."C" NOT NULL UNIQUE,
            expires_at_ms  BIGINT NOT NULL,
            acquired_at_ms BIGINT NOT NULL,
            fence          TEXT NOT NULL,
            user_key       TEXT NOT NULL,
            owner          TEXT
        );
    EXCEPTION
        WHEN unique_violation OR duplicate_table OR duplicate_object THEN -- The first session has created it.
            NULL;
    END;
    LOCK TABLE ${syncguard_locks} IN SHARE UPDATE EXCLUSIVE MODE;
END;

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
--
-- permits: with so many shared leases, the key has no room for the request. It is 1 for a writer, and null for a reader
-- without a limit. Readers without a limit do not block each other; all others wait for whoever is in front.
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
    secret        TEXT,
    permits       INTEGER DEFAULT 1
) WITH (fillfactor = 70);

-- One row per key that was ever locked; it is also the key's serialising row. NEVER delete one by hand: a fence that is
-- used twice protects nothing. Only _forget does, with fences by the clock: a key without leases and queue entries.
CREATE TABLE IF NOT EXISTS ${syncguard_fence_counters} (
    fence_key TEXT COLLATE pg_catalog."C" PRIMARY KEY,
    fence     BIGINT NOT NULL DEFAULT 0,
    key_debug TEXT
) WITH (fillfactor = 70);

-- The type and the indexes that are missing: IF NOT EXISTS would lock a table even if the index exists.
DECLARE
    "Wanted" RECORD;
BEGIN
    -- The answer to an acquire request. granted_fence is null if it is refused, and 0 if the counter is at its end. A
    -- refusal names the holder of the key, for people; held_since_ms is null if only waiters block the request.
    -- held_lapsed: the lease of the holder has lapsed, but a transaction locks the row, such as a commit under the
    -- lock. time_left_ms: when to try again, or to look again in the queue. request_position counts from 1 in a batch.
    IF pg_catalog.to_regtype('${syncguard_locks}_answer') IS NULL THEN
        CREATE TYPE ${syncguard_locks}_answer AS (
            granted_fence BIGINT, granted_at_ms BIGINT, granted_until_ms BIGINT, time_left_ms BIGINT,
            held_by TEXT, held_since_ms BIGINT, held_by_others BOOLEAN, held_lapsed BOOLEAN, request_position BIGINT
        );
    END IF;

    FOR "Wanted" IN
        SELECT w.table_name::pg_catalog.regclass AS table_name, w.columns
        FROM (VALUES
            ('${syncguard_locks}', 'expires_at_ms'),
            ('${syncguard_locks}_shared', 'expires_at_ms'),
            ('${syncguard_locks}_shared', 'key, expires_at_ms'),
            ('${syncguard_locks}_waiters', 'key, arrival')
        ) AS w (table_name, columns)
    LOOP
        IF NOT EXISTS (
            SELECT FROM pg_catalog.pg_index i
            WHERE i.indrelid OPERATOR(pg_catalog.=) "Wanted".table_name AND "Wanted".columns OPERATOR(pg_catalog.=) (
                SELECT pg_catalog.string_agg(pg_catalog.pg_get_indexdef(i.indexrelid, c, true), ', ' ORDER BY c)
                FROM pg_catalog.generate_series(1, i.indnkeyatts::INTEGER) AS c
            )
        ) THEN
            EXECUTE pg_catalog.format('CREATE INDEX ON %s (%s)', "Wanted".table_name, "Wanted".columns);
        END IF;
    END LOOP;
END;

-- Returns the tolerance: how many milliseconds the store keeps a lease from others after its expiry.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_tolerance() RETURNS BIGINT LANGUAGE sql STABLE AS 'SELECT 1000::BIGINT';

-- Returns the largest fence. A larger one would have 16 digits and no longer sort as text.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_last_fence() RETURNS BIGINT LANGUAGE sql STABLE
AS 'SELECT 900000000000000';

-- Returns a fence as leases store it: a text of 15 digits.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_fence_text(p_fence BIGINT) RETURNS TEXT LANGUAGE sql STABLE
AS $function$ SELECT pg_catalog.lpad(p_fence::TEXT, 15, '0') $function$;

-- Returns the fence key of a key, which identifies its serialising row. The key stands in it as it is: a key has at
-- most 512 bytes, and an index takes 2700.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_fence_key(p_key TEXT) RETURNS TEXT LANGUAGE sql STABLE
AS $function$ SELECT 'fence:' || p_key $function$;

-- Returns the key that a fence key belongs to.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_key_of_fence(p_fence_key TEXT) RETURNS TEXT LANGUAGE sql STABLE
AS $function$
    SELECT pg_catalog.substr(p_fence_key, 1 + pg_catalog.length(${syncguard_locks}_fence_key(''::TEXT)))
$function$;

-- Returns the table of fence counters that these functions use. The library compares it with its own setting at the
-- start.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_fence_counters() RETURNS TEXT LANGUAGE sql IMMUTABLE
AS $function$ SELECT '${syncguard_fence_counters}' $function$;

-- Returns where fences come from, counter or clock. The library compares it with its own setting at the start.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_fence_source() RETURNS TEXT LANGUAGE sql STABLE
AS $function$ SELECT '${syncguard_fence_source}' $function$;

-- Returns the fence after this one; every fence is drawn by this function. By the clock, a fence is at least a hundred
-- times the milliseconds of the clock, so it is also larger than the fences that a lost counter has given. The clock
-- alone gives no larger fence than 810000000000000, in the year 2226: a clock that stood far in the future leaves
-- fences for the time when it is right again. The last fence plus 1 keeps fences growing when the clock is set back.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_fence_after(p_fence BIGINT, p_now_ms BIGINT) RETURNS BIGINT
LANGUAGE sql STABLE AS $function$
    SELECT CASE ${syncguard_locks}_fence_source()
               WHEN 'clock' THEN greatest(p_fence + 1, least(p_now_ms * 100, 810000000000000))
               ELSE p_fence + 1
           END
$function$;

-- Returns the time by which every lease is judged, in milliseconds. Functions read it after they have won the row lock;
-- PostgreSQL's now() would be the start of the transaction.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_now() RETURNS BIGINT LANGUAGE sql VOLATILE AS $function$
    SELECT pg_catalog.floor(
        pg_catalog.date_part('epoch', pg_catalog.clock_timestamp()) * 1000::DOUBLE PRECISION)::BIGINT
$function$;

-- Tells whether a lease with this expiry is live at p_now_ms.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_is_live(p_expires_at_ms BIGINT, p_now_ms BIGINT) RETURNS BOOLEAN
LANGUAGE sql STABLE AS 'SELECT p_expires_at_ms > p_now_ms - ${syncguard_locks}_tolerance()';

-- Returns within how many milliseconds a waiter looks again, even without a wake-up, if its queue entry has this ttl.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_poll(p_ttl_ms BIGINT) RETURNS BIGINT LANGUAGE sql STABLE
AS 'SELECT p_ttl_ms / 3';

-- Returns the time before which a lease has to have expired so that the cleanup deletes it: twice the tolerance ago.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_sweep_before() RETURNS BIGINT LANGUAGE sql VOLATILE
AS 'SELECT ${syncguard_locks}_now() - 2 * ${syncguard_locks}_tolerance()';

-- Returns why a lease with this expiry was neither extended nor released: 'busy' if it is live, so another transaction
-- locks it; 'expired' if it has lapsed; 'not_found' if the expiry is null, because there is no lease.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_outcome(p_expires_at_ms BIGINT) RETURNS TEXT
LANGUAGE sql VOLATILE AS $function$
    SELECT CASE
               WHEN p_expires_at_ms IS NULL THEN 'not_found'
               WHEN ${syncguard_locks}_is_live(p_expires_at_ms, ${syncguard_locks}_now()) THEN 'busy'
               ELSE 'expired'
           END
$function$;

-- Grants a key that probably has neither leases nor queue entries, like most keys that are acquired. Returns the fence,
-- and the times of the grant and of its end; or null if _acquire has to answer.
--
-- Leases and queue of such a key begin with a grant, which changes the fence or creates the serialising row, and
-- _forget does not delete that row while they are there. So an unchanged fence, or a row that is created here, proves
-- that the key is still free. Both the update and the insert of the row wait for a grant under way.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_acquire_free(
    p_key TEXT, p_lock_id TEXT, p_ttl_ms BIGINT, p_owner TEXT
) RETURNS BIGINT[]
LANGUAGE plpgsql AS $function$
DECLARE
    v_counter TID;
    v_fence   BIGINT;
    v_is_free BOOLEAN;
    v_now     BIGINT;
BEGIN
    SELECT c.ctid, c.fence,
           NOT EXISTS (SELECT FROM ${syncguard_locks} l WHERE l.key = p_key)
           AND NOT EXISTS (SELECT FROM ${syncguard_locks}_shared s WHERE s.key = p_key)
           AND NOT EXISTS (SELECT FROM ${syncguard_locks}_waiters w WHERE w.key = p_key)
    INTO v_counter, v_fence, v_is_free
    FROM ${syncguard_fence_counters} c WHERE c.fence_key = ${syncguard_locks}_fence_key(p_key);
    IF v_is_free THEN
        UPDATE ${syncguard_fence_counters} c
        SET fence = ${syncguard_locks}_fence_after(c.fence, ${syncguard_locks}_now())
        WHERE c.ctid = v_counter AND c.fence_key = ${syncguard_locks}_fence_key(p_key) AND c.fence = v_fence
            AND c.fence < ${syncguard_locks}_last_fence()
        RETURNING c.fence INTO v_fence;
    ELSIF v_is_free IS NULL THEN
        INSERT INTO ${syncguard_fence_counters} AS c (fence_key, fence, key_debug)
        SELECT ${syncguard_locks}_fence_key(p_key), ${syncguard_locks}_fence_after(0::BIGINT, ${syncguard_locks}_now()),
               p_key
        WHERE NOT EXISTS (SELECT FROM ${syncguard_locks} l WHERE l.key = p_key)
            AND NOT EXISTS (SELECT FROM ${syncguard_locks}_shared s WHERE s.key = p_key)
            AND NOT EXISTS (SELECT FROM ${syncguard_locks}_waiters w WHERE w.key = p_key)
        ON CONFLICT (fence_key) DO NOTHING
        RETURNING c.fence INTO v_fence;
    END IF;
    IF v_is_free IS FALSE OR NOT FOUND THEN
        RETURN NULL;
    END IF;
    v_now := ${syncguard_locks}_now();
    IF v_is_free IS NULL AND v_fence < ${syncguard_locks}_fence_after(0::BIGINT, v_now) THEN
        -- The insert has waited for a row with a later fence, which _forget has deleted since.
        v_fence := ${syncguard_locks}_fence_after(0::BIGINT, v_now);
        UPDATE ${syncguard_fence_counters} c SET fence = v_fence
        WHERE c.fence_key = ${syncguard_locks}_fence_key(p_key);
    END IF;
    INSERT INTO ${syncguard_locks} (key, lock_id, expires_at_ms, acquired_at_ms, fence, user_key, owner)
    VALUES (p_key, p_lock_id, v_now + p_ttl_ms, v_now, ${syncguard_locks}_fence_text(v_fence), p_key, p_owner);
    RETURN ARRAY[v_fence, v_now, v_now + p_ttl_ms];
END
$function$;

-- Makes one attempt to acquire a key, and returns a grant or a refusal. These are its steps; a comment names the short
-- cut that ends most attempts of a kind.
-- 1. A single attempt looks without a lock. It is refused if something blocks the key.
-- 2. The serialising row is locked.
-- 3. A waiter that has a lease already gets that one. A reader is granted the key if there is nothing in its way.
-- 4. The second look, under the lock, tells what blocks the key. If only lapsed leases do, they are deleted.
-- 5. If nothing blocks the key, a fence is drawn, the lease is inserted, and the queue entry of the request is deleted.
-- 6. Otherwise the request is refused. A waiter gets a queue entry, or renews it.
--
-- Without a waiter (p_waiter is null), it is a single attempt or, with p_queued, the last one of a waiter, which leaves
-- the queue if it is refused. p_queued says that an earlier attempt was refused, so that there is an entry, or a lease
-- that a release made of it.
--
-- p_position is the position of the request in a batch, which does not wait for a locked row: the answer is null if
-- another transaction locks the serialising row or the entry, and request_position is 0 if the request has to leave the
-- queue.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_acquire(
    p_key TEXT, p_shared BOOLEAN, p_permits INTEGER, p_lock_id TEXT, p_ttl_ms BIGINT, p_owner TEXT, p_queued BOOLEAN,
    p_waiter BIGINT, p_waiter_ttl_ms BIGINT, p_hand_over BOOLEAN, p_channel TEXT, p_secret TEXT,
    p_position BIGINT DEFAULT NULL
) RETURNS ${syncguard_locks}_answer
LANGUAGE plpgsql AS $function$
DECLARE
    v_answer  ${syncguard_locks}_answer;
    v_fence   BIGINT;
    v_now     BIGINT;
    v_left    TEXT[];
    v_poll    BIGINT;
    "Blocked" RECORD;
    c_tries   CONSTANT BOOLEAN := p_waiter IS NULL AND NOT p_queued;
    c_queues  CONSTANT BOOLEAN := p_waiter IS NOT NULL AND NOT p_queued;
    c_leaves  CONSTANT BOOLEAN := p_waiter IS NULL AND p_queued;
BEGIN
    IF c_tries AND NOT p_shared THEN
        -- Most refused tries end here: the key has a holder and no waiters. A row lock alone makes a commit write.
        SELECT NULL::BIGINT, NULL::BIGINT, NULL::BIGINT,
               l.expires_at_ms + ${syncguard_locks}_tolerance() - ${syncguard_locks}_now(),
               l.owner, l.acquired_at_ms, false, NULL::BOOLEAN, NULL::BIGINT
        INTO v_answer
        FROM ${syncguard_locks} l
        WHERE l.key = p_key AND NOT EXISTS (SELECT FROM ${syncguard_locks}_waiters w WHERE w.key = p_key);
        IF v_answer.time_left_ms > 0 THEN
            RETURN v_answer;
        END IF;
    END IF;

    -- The first look takes no lock: a refused try writes nothing.
    IF c_tries AND (
        p_permits IS NOT NULL
        OR EXISTS (SELECT FROM ${syncguard_locks} l WHERE l.key = p_key)
        OR EXISTS (SELECT FROM ${syncguard_locks}_waiters w WHERE w.key = p_key AND w.permits IS NOT NULL)
    ) THEN
        "Blocked" := ${syncguard_locks}_blockers(p_key, p_permits, p_lock_id);
        IF "Blocked".time_left_ms > 0 AND "Blocked".own_arrival IS NULL THEN
            RETURN (NULL, NULL, NULL, "Blocked".time_left_ms, "Blocked".held_by, "Blocked".held_since_ms,
                    "Blocked".held_by_others, NULL, NULL)::${syncguard_locks}_answer;
        END IF;
    END IF;

    -- Lock the row before the look: a release between look and queue entry would find no waiter to wake.
    IF NOT ${syncguard_locks}_lock_key(p_key, p_position IS NULL) THEN
        RETURN NULL;
    END IF;
    IF p_position IS NOT NULL AND p_queued THEN
        PERFORM 1 FROM ${syncguard_locks}_waiters w WHERE w.lock_id = p_lock_id FOR NO KEY UPDATE SKIP LOCKED;
        IF NOT FOUND AND EXISTS (SELECT FROM ${syncguard_locks}_waiters w WHERE w.lock_id = p_lock_id) THEN
            RETURN NULL; -- Its entry is locked, such as by a renewal under way.
        END IF;
    END IF;
    v_answer := NULL;
    IF p_queued THEN
        v_answer := ${syncguard_locks}_own_lease(p_key, p_shared, p_lock_id, p_ttl_ms);
        IF v_answer.granted_fence IS NOT NULL THEN
            RETURN v_answer;
        END IF;
    ELSIF p_shared THEN
        -- Most readers are granted here: the key has neither an exclusive lease nor a waiter with permits; for one with
        -- permits, no waiter at all, and room. Lapsed leases count here.
        UPDATE ${syncguard_fence_counters} c
        SET fence = ${syncguard_locks}_fence_after(c.fence, ${syncguard_locks}_now())
        WHERE c.fence_key = ${syncguard_locks}_fence_key(p_key) AND c.fence < ${syncguard_locks}_last_fence()
            AND NOT EXISTS (SELECT FROM ${syncguard_locks} l WHERE l.key = p_key)
            AND NOT EXISTS (
                SELECT FROM ${syncguard_locks}_waiters w
                WHERE w.key = p_key AND (coalesce(p_permits, w.permits) IS NOT NULL OR w.lock_id = p_lock_id))
            AND (p_permits IS NULL OR NOT EXISTS (
                SELECT FROM ${syncguard_locks}_shared s WHERE s.key = p_key OFFSET p_permits - 1))
        RETURNING c.fence INTO v_fence;
        IF FOUND THEN
            v_now := ${syncguard_locks}_grant(p_key, true, p_lock_id, p_ttl_ms, p_owner, v_fence);
            RETURN (v_fence, v_now, v_now + p_ttl_ms, NULL, NULL, NULL, NULL, NULL, NULL)::${syncguard_locks}_answer;
        END IF;
    END IF;

    IF c_queues OR c_leaves THEN
        -- Most waiters queue or give up by this look: the key has a live exclusive lease. A new one has no entry.
        v_now := ${syncguard_locks}_now();
        SELECT NULL::BIGINT, NULL::BIGINT, NULL::BIGINT,
               least(l.expires_at_ms + ${syncguard_locks}_tolerance(), CASE WHEN c_queues THEN (
                   SELECT min(w.expires_at_ms) FROM ${syncguard_locks}_waiters w
                   WHERE w.key = p_key AND w.expires_at_ms > v_now AND coalesce(p_permits, w.permits) IS NOT NULL
               ) END) - v_now, l.owner, l.acquired_at_ms, false, NULL::BOOLEAN, NULL::BIGINT
        INTO v_answer
        FROM ${syncguard_locks} l
        WHERE l.key = p_key AND ${syncguard_locks}_is_live(l.expires_at_ms, v_now)
            AND (c_leaves OR NOT EXISTS (SELECT FROM ${syncguard_locks}_waiters w WHERE w.lock_id = p_lock_id));
    END IF;
    IF v_answer.time_left_ms IS NULL THEN
        -- The second look, under the row lock: of two requests that have looked at the same time, one is granted.
        "Blocked" := ${syncguard_locks}_blockers(p_key, p_permits, p_lock_id);
        v_now := "Blocked".now_ms;
        v_answer.time_left_ms := "Blocked".time_left_ms;
        IF v_answer.time_left_ms <= 0 AND ("Blocked".has_exclusive OR "Blocked".has_shared) THEN
            -- The counter is checked before anything is deleted, because a request that fails changes nothing.
            IF EXISTS (
                SELECT FROM ${syncguard_fence_counters} c
                WHERE c.fence_key = ${syncguard_locks}_fence_key(p_key) AND c.fence >= ${syncguard_locks}_last_fence()
            ) THEN
                v_answer.granted_fence := 0;
                RETURN v_answer;
            END IF;
            v_answer.time_left_ms := ${syncguard_locks}_delete_lapsed(
                p_key, "Blocked".has_exclusive, CASE WHEN "Blocked".has_shared THEN p_permits END, v_now);
            v_answer.held_lapsed := true;
        END IF;
        IF v_answer.time_left_ms <= 0 THEN
            -- Only a grant draws a fence.
            v_answer.granted_fence := ${syncguard_locks}_next_fence(p_key);
            IF v_answer.granted_fence > 0 THEN
                v_answer.granted_at_ms := ${syncguard_locks}_grant(
                    p_key, p_shared, p_lock_id, p_ttl_ms, p_owner, v_answer.granted_fence);
                v_answer.granted_until_ms := v_answer.granted_at_ms + p_ttl_ms;
                -- A lapsed entry goes, too: a renewal under way would revive it, in front of all others, without a
                -- waiter.
                DELETE FROM ${syncguard_locks}_waiters w WHERE w.lock_id = p_lock_id
                RETURNING ${syncguard_locks}_poll(w.ttl_ms) INTO v_poll;
                IF p_shared AND v_poll > 0 OR p_ttl_ms + ${syncguard_locks}_tolerance() <= v_poll THEN
                    PERFORM ${syncguard_locks}_wake_beside(p_key, p_permits);
                END IF;
            END IF;
            RETURN v_answer;
        END IF;

        v_answer.held_by := "Blocked".held_by;
        v_answer.held_since_ms := "Blocked".held_since_ms;
        v_answer.held_by_others := "Blocked".held_by_others;
        IF p_waiter IS NOT NULL THEN
            -- A waiter looks again when the first of the blocking leases ends, because the others may be released
            -- before that without a wake-up; or when the first entry in front ends, because its waiter may be dead.
            -- Shared leases also block if those in front fill the key beside them, of whom the first can be granted it.
            v_answer.time_left_ms := coalesce(least(
                CASE WHEN "Blocked".leases_until_ms > v_now THEN "Blocked".leases_until_ms END,
                CASE WHEN "Blocked".leases_until_ms > v_now OR p_permits > 1 AND (
                    SELECT w.permits IS NULL OR NOT EXISTS (
                        SELECT FROM ${syncguard_locks}_shared s
                        WHERE s.key = p_key AND ${syncguard_locks}_is_live(s.expires_at_ms, v_now)
                        OFFSET w.permits - 1)
                    FROM ${syncguard_locks}_waiters w
                    WHERE w.key = p_key AND w.expires_at_ms > v_now ORDER BY w.arrival LIMIT 1
                ) AND EXISTS (
                    SELECT FROM (
                        SELECT FROM ${syncguard_locks}_shared s
                        WHERE s.key = p_key AND ${syncguard_locks}_is_live(s.expires_at_ms, v_now)
                        UNION ALL SELECT FROM ${syncguard_locks}_waiters w
                        WHERE w.key = p_key AND w.expires_at_ms > v_now
                            AND ("Blocked".own_arrival IS NULL OR w.arrival < "Blocked".own_arrival)
                    ) AS o OFFSET p_permits - 1
                ) THEN (
                    SELECT min(s.expires_at_ms) + ${syncguard_locks}_tolerance() FROM ${syncguard_locks}_shared s
                    WHERE s.key = p_key AND ${syncguard_locks}_is_live(s.expires_at_ms, v_now) AND p_permits IS NOT NULL
                ) END,
                "Blocked".entry_until_ms) - v_now, v_answer.time_left_ms);
        END IF;
    END IF;

    -- A refusal is not worth waiting for the disk. An entry that is lost in a crash costs fairness only.
    PERFORM pg_catalog.set_config('synchronous_commit', 'off', true);
    IF p_waiter IS NULL THEN
        IF p_position IS NULL THEN
            v_left := ${syncguard_locks}_leave(ARRAY[p_lock_id]);
        ELSE
            v_answer.request_position := 0;
        END IF;
        RETURN v_answer;
    END IF;
    LOOP
        INSERT INTO ${syncguard_locks}_waiters AS w
            (lock_id, key, arrived_at_ms, shared, permits, expires_at_ms, ttl_ms, hand_over, channel, waiter, owner,
             secret)
        VALUES (p_lock_id, p_key, v_now, p_shared, p_permits, v_now + p_waiter_ttl_ms, p_waiter_ttl_ms, p_hand_over,
                p_channel, p_waiter, p_owner, p_secret)
        ON CONFLICT (lock_id) DO UPDATE
        SET expires_at_ms = excluded.expires_at_ms, waiter = excluded.waiter, secret = excluded.secret
        WHERE w.expires_at_ms > v_now;
        EXIT WHEN FOUND;
        -- A lapsed entry is lost: its number would let the waiter pass those that arrived since.
        DELETE FROM ${syncguard_locks}_waiters w WHERE w.lock_id = p_lock_id;
    END LOOP;
    RETURN v_answer;
END
$function$;

-- Returns the grant of the lease that a waiter has already, or an answer without a fence if it has none. It has one if
-- a release made a lease of its queue entry and the message was lost or is still under way, or if the answer to an
-- earlier attempt was lost. The lease begins now, for a whole ttl: until now, nobody worked under it. The function
-- locks the row of the lease, and fails at once (NOWAIT) if another transaction locks it. The caller has locked the
-- serialising row.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_own_lease(
    p_key TEXT, p_shared BOOLEAN, p_lock_id TEXT, p_ttl_ms BIGINT
) RETURNS ${syncguard_locks}_answer
LANGUAGE plpgsql AS $function$
DECLARE
    v_answer ${syncguard_locks}_answer;
BEGIN
    IF p_shared THEN
        PERFORM 1 FROM ${syncguard_locks}_shared s WHERE s.lock_id = p_lock_id FOR NO KEY UPDATE NOWAIT;
        UPDATE ${syncguard_locks}_shared s
        SET acquired_at_ms = ${syncguard_locks}_now(), expires_at_ms = ${syncguard_locks}_now() + p_ttl_ms
        WHERE s.lock_id = p_lock_id AND ${syncguard_locks}_is_live(s.expires_at_ms, ${syncguard_locks}_now())
        RETURNING s.fence, s.acquired_at_ms, s.expires_at_ms
        INTO v_answer.granted_fence, v_answer.granted_at_ms, v_answer.granted_until_ms;
        IF NOT FOUND THEN
            DELETE FROM ${syncguard_locks}_shared s WHERE s.lock_id = ANY (ARRAY(
                SELECT o.lock_id FROM ${syncguard_locks}_shared o WHERE o.lock_id = p_lock_id FOR UPDATE SKIP LOCKED));
        END IF;
    ELSE
        PERFORM 1 FROM ${syncguard_locks} l WHERE l.key = p_key AND l.lock_id = p_lock_id FOR NO KEY UPDATE NOWAIT;
        UPDATE ${syncguard_locks} l
        SET acquired_at_ms = ${syncguard_locks}_now(), expires_at_ms = ${syncguard_locks}_now() + p_ttl_ms
        WHERE l.key = p_key AND l.lock_id = p_lock_id
            AND ${syncguard_locks}_is_live(l.expires_at_ms, ${syncguard_locks}_now())
        RETURNING l.fence, l.acquired_at_ms, l.expires_at_ms
        INTO v_answer.granted_fence, v_answer.granted_at_ms, v_answer.granted_until_ms;
    END IF;
    RETURN v_answer;
END
$function$;

-- Returns what blocks an acquire request. It locks nothing. A request is blocked by the exclusive lease, by shared
-- leases if there are as many as it has permits, and by the queue entries in front of its own, or all entries if it has
-- none.
--
-- time_left_ms is the time until there is room and the last of the others ends, 0 or less if that time is over. Of
-- several readers, held_by is the owner of the lease that ends last. held_since_ms is null if only waiters block the
-- request.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_blockers(
    p_key TEXT, p_permits INTEGER, p_lock_id TEXT,
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
           greatest(l.expires_at_ms, "Last".until_ms) + ${syncguard_locks}_tolerance(),
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
        -- The entries that arrived before it; readers without a limit do not block each other.
        SELECT min(w.expires_at_ms) AS soonest, max(w.expires_at_ms) AS latest
        FROM ${syncguard_locks}_waiters w
        WHERE w.key = p_key AND w.expires_at_ms > v_now AND coalesce(p_permits, w.permits) IS NOT NULL
            AND ("Own".arrival IS NULL OR w.arrival < "Own".arrival)
    ) AS "Front"
    LEFT JOIN ${syncguard_locks} l ON l.key = p_key
    LEFT JOIN LATERAL (
        SELECT s.lock_id, s.owner, s.acquired_at_ms, CASE WHEN p_permits = 1 THEN s.expires_at_ms ELSE (
                   SELECT o.expires_at_ms FROM ${syncguard_locks}_shared o
                   WHERE o.key = p_key ORDER BY o.expires_at_ms DESC OFFSET p_permits - 1 LIMIT 1
               ) END AS until_ms
        FROM ${syncguard_locks}_shared s
        WHERE s.key = p_key AND p_permits IS NOT NULL ORDER BY s.expires_at_ms DESC LIMIT 1
    ) AS "Last" ON "Last".until_ms IS NOT NULL;
    now_ms := v_now;
    time_left_ms := coalesce(greatest(leases_until_ms, v_latest) - v_now, 0);
    IF leases_until_ms <= v_now AND v_latest IS NOT NULL THEN
        held_since_ms := NULL;
    END IF;
END
$function$;

-- Deletes the lapsed leases that block a request: the exclusive one, and all shared ones if the request has permits.
-- Returns 0, or in how many milliseconds to try again if another transaction locks such a lease. The caller has locked
-- the serialising row.
--
-- A grant needs lapsed leases deleted, not ignored: an extension under way would revive one beside it. The expiry is
-- checked again under the row lock: the lease may have been extended since. FOR UPDATE is of key strength, so it does
-- not pass a transaction that pins the row; SKIP LOCKED does not wait for that transaction either.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_delete_lapsed(
    p_key TEXT, p_exclusive BOOLEAN, p_permits INTEGER, p_now_ms BIGINT
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
    IF p_permits IS NOT NULL AND NOT v_pinned THEN
        DELETE FROM ${syncguard_locks}_shared l WHERE l.lock_id = ANY (ARRAY(
            SELECT s.lock_id FROM ${syncguard_locks}_shared s
            WHERE s.key = p_key AND NOT ${syncguard_locks}_is_live(s.expires_at_ms, p_now_ms)
            FOR UPDATE SKIP LOCKED
        ));
        -- Each remaining lease counts: it may be committing, or being extended.
        v_pinned := EXISTS (SELECT FROM ${syncguard_locks}_shared s WHERE s.key = p_key OFFSET p_permits - 1);
    END IF;
    RETURN CASE WHEN v_pinned THEN 50 + pg_catalog.floor(pg_catalog.random() * 50::DOUBLE PRECISION)::BIGINT ELSE 0 END;
END
$function$;

-- Draws the next fence of a key whose serialising row exists, and returns it, or 0 if the counter is at its end.
-- Drawing a fence locks the row.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_next_fence(p_key TEXT) RETURNS BIGINT
LANGUAGE plpgsql AS $function$
DECLARE
    v_fence BIGINT;
BEGIN
    UPDATE ${syncguard_fence_counters} c
    SET fence = ${syncguard_locks}_fence_after(c.fence, ${syncguard_locks}_now())
    WHERE c.fence_key = ${syncguard_locks}_fence_key(p_key) AND c.fence < ${syncguard_locks}_last_fence()
    RETURNING c.fence INTO v_fence;
    RETURN coalesce(v_fence, 0);
END
$function$;

-- Inserts a lease with this fence, and returns the time of the grant. The caller has made sure that nothing blocks the
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

-- Locks the serialising row of a key. From here to the commit, no other transaction can grant or release the key, or
-- change its queue. With p_waits, the function waits for the row, creates a missing one, and returns true. Without, it
-- returns whether it has locked the row: false if the row is missing or another transaction locks it.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_lock_key(p_key TEXT, p_waits BOOLEAN) RETURNS BOOLEAN
LANGUAGE plpgsql AS $function$
BEGIN
    IF NOT p_waits THEN
        PERFORM 1 FROM ${syncguard_fence_counters} c
        WHERE c.fence_key = ${syncguard_locks}_fence_key(p_key)
        FOR NO KEY UPDATE SKIP LOCKED;
        RETURN FOUND;
    END IF;
    PERFORM 1 FROM ${syncguard_fence_counters} c
    WHERE c.fence_key = ${syncguard_locks}_fence_key(p_key)
    FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        -- Its first grant creates the row, and _forget may have deleted it since. DO UPDATE locks the row of another
        -- request that creates it at the same time.
        INSERT INTO ${syncguard_fence_counters} AS c (fence_key, key_debug)
        VALUES (${syncguard_locks}_fence_key(p_key), p_key)
        ON CONFLICT (fence_key) DO UPDATE SET fence = c.fence;
    END IF;
    RETURN true;
END
$function$;

-- Makes many attempts of readers at once, with queue entries or without, for any keys. The readers of a key are granted
-- it together if nothing blocks any of them; the others are answered one by one. A request that has no row in the
-- answer has to be sent alone. Like _acquire_batch, the function does not wait for a serialising row, and fails without
-- effect where it waits for another row.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_acquire_readers(
    p_keys TEXT[], p_permits INTEGER[], p_lock_ids TEXT[], p_ttls_ms BIGINT[], p_owners TEXT[], p_queued BOOLEAN[],
    p_waiters BIGINT[], p_secrets TEXT[], p_hand_overs BOOLEAN[], p_waiter_ttl_ms BIGINT, p_channel TEXT
) RETURNS SETOF ${syncguard_locks}_answer
LANGUAGE plpgsql
SET lock_timeout = '20ms'
AS $function$
DECLARE
    -- The first look takes no lock, because a row lock alone makes the commit write.
    v_keys    TEXT[] := ${syncguard_locks}_lock_keys(${syncguard_locks}_free_readers(p_keys, p_permits));
    v_now     BIGINT := ${syncguard_locks}_now();
    v_granted BIGINT := 0;
BEGIN
    IF v_keys OPERATOR(pg_catalog.<>) '{}' THEN
        -- Another request may have been granted a key, or have queued for it, since the first look.
        v_keys := ARRAY(
            SELECT f.key FROM pg_catalog.unnest(${syncguard_locks}_free_readers(p_keys, p_permits)) AS f (key)
            WHERE f.key = ANY (v_keys));
        RETURN QUERY
        WITH "Free" AS MATERIALIZED (
            SELECT r.*, ${syncguard_locks}_fence_key(r.key) AS fence_key
            FROM unnest(p_keys, p_lock_ids, p_ttls_ms, p_owners)
                WITH ORDINALITY AS r (key, lock_id, ttl_ms, owner, position)
            -- A reader that has a lease already would fail the whole batch.
            WHERE r.key = ANY (v_keys)
                AND NOT EXISTS (SELECT FROM ${syncguard_locks}_shared s WHERE s.lock_id = r.lock_id OFFSET 0)
        ), "Counter" AS (
            -- The first reader of a key gets the next fence, and the others get the numbers behind it.
            UPDATE ${syncguard_fence_counters} c SET fence = ${syncguard_locks}_fence_after(c.fence, v_now) - 1 + (
                SELECT count(*) FROM "Free" f WHERE f.fence_key = c.fence_key
            )
            WHERE c.fence_key = ANY (ARRAY(SELECT f.fence_key FROM "Free" f GROUP BY f.fence_key))
                AND ${syncguard_locks}_fence_after(c.fence, v_now) - 1 + pg_catalog.cardinality(p_keys)
                    <= ${syncguard_locks}_last_fence()
            -- All readers of a key get one time, so that no later fence has an earlier time.
            RETURNING c.fence_key, c.fence, ${syncguard_locks}_now() AS now_ms
        ), "Granted" AS MATERIALIZED (
            -- The last reader of a key has the fence of the counter.
            SELECT f.*, c.fence + 1 - row_number() OVER (PARTITION BY f.key ORDER BY f.position DESC) AS next_fence,
                   c.now_ms
            FROM "Free" f JOIN "Counter" c ON c.fence_key = f.fence_key
        ), "Lease" AS (
            INSERT INTO ${syncguard_locks}_shared (lock_id, key, expires_at_ms, acquired_at_ms, fence, user_key, owner)
            SELECT g.lock_id, g.key, g.now_ms + g.ttl_ms, g.now_ms, ${syncguard_locks}_fence_text(g.next_fence), g.key,
                   g.owner
            FROM "Granted" g
        ), "Left" AS (
            -- Lapsed entries go, too, as in _acquire.
            DELETE FROM ${syncguard_locks}_waiters w WHERE w.lock_id = ANY (ARRAY(SELECT g.lock_id FROM "Granted" g))
        )
        SELECT g.next_fence, g.now_ms, g.now_ms + g.ttl_ms, NULL::BIGINT, NULL::TEXT, NULL::BIGINT, NULL::BOOLEAN,
               NULL::BOOLEAN, g.position
        FROM "Granted" g;
        GET DIAGNOSTICS v_granted = ROW_COUNT;
    END IF;
    IF v_granted < pg_catalog.cardinality(p_keys) THEN
        RETURN QUERY SELECT a.* FROM ${syncguard_locks}_acquire_batch(
            p_keys, p_lock_ids, p_ttls_ms, p_owners, p_queued, p_waiters, p_secrets, p_hand_overs, p_waiter_ttl_ms,
            p_channel, true, p_permits) a;
    END IF;
END
$function$;

-- Returns those of these keys whose readers here can all be granted them. Lapsed leases and entries count, and so do
-- the own entries of readers with permits. It locks nothing.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_free_readers(p_keys TEXT[], p_permits INTEGER[]) RETURNS TEXT[]
LANGUAGE plpgsql AS $function$
BEGIN
    RETURN ARRAY(
        SELECT r.key FROM unnest(p_keys, p_permits) AS r (key, permits)
        GROUP BY r.key
        HAVING NOT EXISTS (SELECT FROM ${syncguard_locks} l WHERE l.key = r.key OFFSET 0)
            AND NOT EXISTS (
                SELECT FROM ${syncguard_locks}_waiters w
                WHERE w.key = r.key AND coalesce(min(r.permits), w.permits) IS NOT NULL OFFSET 0)
            AND (min(r.permits) IS NULL OR count(*) + (
                SELECT count(*) FROM ${syncguard_locks}_shared s WHERE s.key = r.key
            ) <= min(r.permits))
    );
END
$function$;

-- Makes many attempts at once, in the order of their arrival. Exclusive requests for free keys are granted together,
-- the others are answered one by one; each answer has the position of its request. A request that has no row in the
-- answer has to be sent alone, like one whose serialising row another transaction locks or whose counter is at its end.
-- A request with a lease was granted before in the same batch, or has to be sent alone.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_acquire_batch(
    p_keys TEXT[], p_lock_ids TEXT[], p_ttls_ms BIGINT[], p_owners TEXT[], p_queued BOOLEAN[], p_waiters BIGINT[],
    p_secrets TEXT[], p_hand_overs BOOLEAN[], p_waiter_ttl_ms BIGINT, p_channel TEXT, p_shared BOOLEAN,
    p_permits INTEGER[]
) RETURNS SETOF ${syncguard_locks}_answer
LANGUAGE plpgsql
SET lock_timeout = '20ms'
AS $function$
DECLARE
    v_durable TEXT := pg_catalog.current_setting('synchronous_commit');
    v_free    BIGINT[];
    v_granted BOOLEAN;
    v_left    TEXT[] := '{}';
    v_skipped TEXT[] := '{}';
    v_answer  ${syncguard_locks}_answer;
    v_number  BIGINT;
BEGIN
    IF NOT p_shared THEN
        v_free := ${syncguard_locks}_acquire_free_batch(p_keys, p_lock_ids, p_ttls_ms, p_owners);
        RETURN QUERY
        SELECT v_free[n][2], v_free[n][3], v_free[n][4], NULL::BIGINT, NULL::TEXT, NULL::BIGINT, NULL::BOOLEAN,
               NULL::BOOLEAN, v_free[n][1]
        FROM pg_catalog.generate_subscripts(v_free, 1) AS n;
    END IF;
    -- _acquire_free_batch or _acquire_readers may have granted: a transaction that has written has an id.
    v_granted := pg_catalog.txid_current_if_assigned() IS NOT NULL;
    FOR v_number IN
        SELECT r.position FROM pg_catalog.unnest(p_lock_ids) WITH ORDINALITY AS r (lock_id, position)
        WHERE NOT EXISTS (SELECT FROM ${syncguard_locks} l WHERE l.lock_id = r.lock_id OFFSET 0)
            AND NOT EXISTS (SELECT FROM ${syncguard_locks}_shared s WHERE s.lock_id = r.lock_id OFFSET 0)
        ORDER BY r.position
    LOOP
        -- Nobody passes a request in front of it that has to be sent alone.
        CONTINUE WHEN p_keys[v_number] = ANY (v_skipped);
        v_answer := ${syncguard_locks}_acquire(
            p_keys[v_number], p_shared, CASE WHEN p_shared THEN p_permits[v_number] ELSE 1 END, p_lock_ids[v_number],
            p_ttls_ms[v_number], p_owners[v_number], p_queued[v_number], p_waiters[v_number], p_waiter_ttl_ms,
            p_hand_overs[v_number], p_channel, p_secrets[v_number], v_number);
        IF v_answer IS NULL OR v_answer.granted_fence = 0 THEN
            v_skipped := v_skipped OPERATOR(pg_catalog.||) p_keys[v_number];
            CONTINUE;
        END IF;
        v_granted := v_granted OR v_answer.granted_fence IS NOT NULL;
        IF v_answer.request_position = 0 THEN
            -- Waiters leave together: each leaver wakes the waiters behind it.
            v_left := v_left OPERATOR(pg_catalog.||) p_lock_ids[v_number];
        END IF;
        v_answer.request_position := v_number;
        RETURN NEXT v_answer;
    END LOOP;
    IF v_left OPERATOR(pg_catalog.<>) '{}' THEN
        v_left := ${syncguard_locks}_leave(v_left);
    END IF;
    IF v_granted THEN
        -- A grant is durable before it is reported, also beside a refusal, which is not.
        PERFORM pg_catalog.set_config('synchronous_commit', v_durable, true);
    END IF;
END
$function$;

-- Acquires keys of one caller in one step, in the order of the requests. It grants all of them or none with p_extent
-- ALL; those in front of the first that is not free with IN_FRONT; none with NOTHING. Returns the grants and, if there
-- is one, the first refusal; if a counter is at its end, this answer alone. It waits for locked serialising rows, like
-- _acquire.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_acquire_together(
    p_keys TEXT[], p_shared BOOLEAN[], p_permits INTEGER[], p_lock_ids TEXT[], p_ttls_ms BIGINT[], p_owners TEXT[],
    p_extent TEXT
) RETURNS SETOF ${syncguard_locks}_answer
LANGUAGE plpgsql AS $function$
DECLARE
    v_durable TEXT := pg_catalog.current_setting('synchronous_commit');
    v_count   INTEGER := pg_catalog.cardinality(p_keys);
    v_used    BIGINT[];
    v_free    BIGINT[];
    v_number  BIGINT;
    v_key     TEXT;
    v_locked  BOOLEAN;
    v_answer  ${syncguard_locks}_answer;
    v_answers ${syncguard_locks}_answer[] := '{}';
    v_refusal ${syncguard_locks}_answer;
    "Blocked" RECORD;
BEGIN
    -- The first look takes no lock: a call that is refused here writes nothing, and delays nobody.
    v_used := ARRAY(
        SELECT r.position FROM pg_catalog.unnest(p_keys) WITH ORDINALITY AS r (key, position)
        WHERE EXISTS (SELECT FROM ${syncguard_locks} l WHERE l.key = r.key OFFSET 0)
            OR EXISTS (SELECT FROM ${syncguard_locks}_shared s WHERE s.key = r.key OFFSET 0)
            OR EXISTS (SELECT FROM ${syncguard_locks}_waiters w WHERE w.key = r.key OFFSET 0)
        ORDER BY r.position
    );
    FOREACH v_number IN ARRAY v_used LOOP
        "Blocked" := ${syncguard_locks}_blockers(p_keys[v_number], p_permits[v_number], p_lock_ids[v_number]);
        IF "Blocked".time_left_ms > 0 THEN
            v_refusal := (NULL, NULL, NULL, "Blocked".time_left_ms, "Blocked".held_by, "Blocked".held_since_ms,
                          "Blocked".held_by_others, NULL, v_number)::${syncguard_locks}_answer;
            v_count := v_number - 1;
            EXIT;
        END IF;
    END LOOP;
    IF p_extent = 'NOTHING' OR v_count = 0 OR v_refusal.request_position > 0 AND p_extent = 'ALL' THEN
        RETURN QUERY SELECT v_refusal.* WHERE v_refusal.request_position > 0;
        RETURN;
    END IF;

    IF coalesce(v_used[1] > v_count, true) AND NOT (true = ANY (p_shared)) THEN
        BEGIN
            v_free := ${syncguard_locks}_acquire_free_batch(
                p_keys[1:v_count], p_lock_ids[1:v_count], p_ttls_ms[1:v_count], p_owners[1:v_count]);
            IF coalesce(pg_catalog.cardinality(v_free), 0) < 4 * v_count THEN
                RAISE EXCEPTION USING ERRCODE = 'SGPRT', MESSAGE = 'Undoes a part of the grants';
            END IF;
        EXCEPTION
            WHEN SQLSTATE 'SGPRT' OR lock_not_available THEN
                v_free := NULL;
        END;
    END IF;
    IF v_free IS NULL THEN
        BEGIN
            -- All serialising rows are locked before the second look, in an order that all transactions have.
            FOR v_key IN
                SELECT k.key FROM pg_catalog.unnest(p_keys[1:v_count]) AS k (key) ORDER BY k.key COLLATE pg_catalog."C"
            LOOP
                v_locked := ${syncguard_locks}_lock_key(v_key, true);
            END LOOP;
            FOR v_number IN 1 .. v_count LOOP
                v_answer := ${syncguard_locks}_acquire(
                    p_keys[v_number], p_shared[v_number], p_permits[v_number], p_lock_ids[v_number],
                    p_ttls_ms[v_number], p_owners[v_number], false, NULL::BIGINT, NULL::BIGINT, false, NULL::TEXT,
                    NULL::TEXT, NULL::BIGINT);
                v_answer.request_position := v_number;
                IF coalesce(v_answer.granted_fence, 0::BIGINT) = 0 THEN
                    v_refusal := v_answer;
                    EXIT WHEN p_extent = 'IN_FRONT' AND v_answer.granted_fence IS NULL;
                    RAISE EXCEPTION USING ERRCODE = 'SGPRT', MESSAGE = 'Undoes a part of the grants';
                END IF;
                v_answers := pg_catalog.array_append(v_answers, v_answer);
            END LOOP;
        EXCEPTION
            WHEN SQLSTATE 'SGPRT' THEN
                v_answers := '{}';
        END;
    END IF;
    IF v_answers OPERATOR(pg_catalog.<>) '{}' THEN
        -- A grant is durable before it is reported, also beside a refusal, which is not.
        PERFORM pg_catalog.set_config('synchronous_commit', v_durable, true);
    END IF;
    RETURN QUERY
    SELECT v_free[n][2], v_free[n][3], v_free[n][4], NULL::BIGINT, NULL::TEXT, NULL::BIGINT, NULL::BOOLEAN,
           NULL::BOOLEAN, v_free[n][1]
    FROM pg_catalog.generate_subscripts(v_free, 1) AS n
    UNION ALL SELECT a.* FROM pg_catalog.unnest(v_answers) AS a
    UNION ALL SELECT v_refusal.* WHERE v_refusal.request_position > 0
    ORDER BY 9;
END
$function$;

-- Grants, like _acquire_free, the first of these requests for each key that has neither leases nor queue entries.
-- Returns for each grant the position of the request, the fence, and the times of the grant and of its end.
--
-- A batch does not wait for a locked row. But the first insert of a counter waits for the same insert of another
-- transaction, and SKIP LOCKED waits in rare cases for a row that has just changed. lock_timeout limits both waits; the
-- batch then fails without effect.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_acquire_free_batch(
    p_keys TEXT[], p_lock_ids TEXT[], p_ttls_ms BIGINT[], p_owners TEXT[]
) RETURNS BIGINT[]
LANGUAGE plpgsql
SET lock_timeout = '20ms'
AS $function$
DECLARE
    v_now     BIGINT;
    v_new     BIGINT[];
    v_granted BIGINT[];
BEGIN
    LOOP
        -- All fences are drawn at one time, so that counter and lease have the same fence. That time is read after the
        -- inserts: a counter that was forgotten before them may have had a later fence than the start.
        v_now := ${syncguard_locks}_now();
        WITH "Granted" AS (
            -- The proof of _acquire_free: this statement updates no row that was changed after its look, so the key is
            -- still free. A subquery for each key, because a join could read the whole table. The clock is read with
            -- the row locked.
            UPDATE ${syncguard_fence_counters} c SET fence = ${syncguard_locks}_fence_after(c.fence, v_now)
            FROM pg_catalog.unnest(p_keys) WITH ORDINALITY AS r (key, position), LATERAL (
                SELECT o.ctid AS tid FROM ${syncguard_fence_counters} o
                WHERE o.fence_key = ${syncguard_locks}_fence_key(r.key) AND o.fence < ${syncguard_locks}_last_fence()
                FOR NO KEY UPDATE SKIP LOCKED
            ) AS o
            WHERE c.ctid = o.tid AND pg_catalog.array_position(p_keys, r.key) = r.position
                AND NOT EXISTS (SELECT FROM ${syncguard_locks} l WHERE l.key = r.key OFFSET 0)
                AND NOT EXISTS (SELECT FROM ${syncguard_locks}_shared s WHERE s.key = r.key OFFSET 0)
                AND NOT EXISTS (SELECT FROM ${syncguard_locks}_waiters w WHERE w.key = r.key OFFSET 0)
            RETURNING r.key, r.position, c.fence, ${syncguard_locks}_now() AS now_ms
        ), "Lease" AS (
            INSERT INTO ${syncguard_locks} (key, lock_id, expires_at_ms, acquired_at_ms, fence, user_key, owner)
            SELECT g.key, p_lock_ids[g.position], g.now_ms + p_ttls_ms[g.position], g.now_ms,
                   ${syncguard_locks}_fence_text(g.fence), g.key, p_owners[g.position]
            FROM "Granted" g
        )
        SELECT pg_catalog.array_agg(ARRAY[g.position, g.fence, g.now_ms, g.now_ms + p_ttls_ms[g.position]]) INTO v_new
        FROM "Granted" g;
        v_granted := v_granted OPERATOR(pg_catalog.||) v_new;
        EXIT WHEN pg_catalog.cardinality(v_granted) = 4 * pg_catalog.cardinality(p_keys);
        -- Keys that were never locked get a counter, and another look. Two batches that insert the same counters in
        -- different orders could deadlock.
        INSERT INTO ${syncguard_fence_counters} (fence_key, key_debug)
        SELECT ${syncguard_locks}_fence_key(r.key), r.key FROM pg_catalog.unnest(p_keys) AS r (key)
        WHERE NOT EXISTS (
            SELECT FROM ${syncguard_fence_counters} c WHERE c.fence_key = ${syncguard_locks}_fence_key(r.key) OFFSET 0)
        ORDER BY r.key COLLATE pg_catalog."C"
        ON CONFLICT (fence_key) DO NOTHING;
        EXIT WHEN NOT FOUND;
    END LOOP;
    RETURN v_granted;
END
$function$;

-- Locks the serialising rows of these keys, except those that another transaction locks, and returns the keys whose
-- rows it has locked. The order of the keys prevents a deadlock with transactions that wait for several rows.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_lock_keys(p_keys TEXT[]) RETURNS TEXT[]
LANGUAGE plpgsql AS $function$
BEGIN
    IF p_keys OPERATOR(pg_catalog.=) '{}' THEN
        RETURN p_keys;
    END IF;
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

-- Releases a lease as _hand_over does. Before that, requests for its key that have no queue entry enter the queue, if
-- the lease is exclusive and live; queued says whether they did. A repeated call finds them there (ON CONFLICT).
-- Drawing the fence locks the serialising row.
CREATE OR REPLACE PROCEDURE ${syncguard_locks}_queue_and_hand_over(
    p_lock_id TEXT, p_channel TEXT, p_commits BOOLEAN,
    p_key TEXT, p_lock_ids TEXT[], p_shared BOOLEAN[], p_permits INTEGER[], p_owners TEXT[], p_waiters BIGINT[],
    p_secrets TEXT[], p_hand_overs BOOLEAN[], p_waiter_ttl_ms BIGINT,
    INOUT outcome TEXT, INOUT handed_over BIGINT[], INOUT queued BOOLEAN
)
LANGUAGE plpgsql AS $procedure$
DECLARE
    v_fence BIGINT := ${syncguard_locks}_next_fence(p_key);
    v_now   BIGINT := ${syncguard_locks}_now();
BEGIN
    INSERT INTO ${syncguard_locks}_waiters
        (lock_id, key, arrived_at_ms, shared, permits, expires_at_ms, ttl_ms, hand_over, channel, waiter, owner, secret)
    SELECT r.lock_id, p_key, v_now, p_shared[r.position], p_permits[r.position], v_now + p_waiter_ttl_ms,
           p_waiter_ttl_ms, p_hand_overs[r.position], p_channel, p_waiters[r.position], p_owners[r.position],
           p_secrets[r.position]
    FROM pg_catalog.unnest(p_lock_ids) WITH ORDINALITY AS r (lock_id, position)
    WHERE EXISTS (
        SELECT FROM ${syncguard_locks} l
        WHERE l.lock_id = p_lock_id AND l.key = p_key AND ${syncguard_locks}_is_live(l.expires_at_ms, v_now)
    )
    ORDER BY r.position
    ON CONFLICT (lock_id) DO NOTHING;
    queued := FOUND;
    CALL ${syncguard_locks}_hand_over(p_key, p_lock_id, p_channel, p_commits, v_fence, outcome, handed_over);
END
$procedure$;

-- Releases the leases and queue entries with these lock ids, as _release does, in one transaction that locks all
-- serialising rows first. The outcomes are in the order of the lock ids.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_release_all(p_lock_ids TEXT[]) RETURNS TABLE (outcome TEXT)
LANGUAGE plpgsql AS $function$
DECLARE
    v_left TEXT[];
BEGIN
    PERFORM pg_catalog.set_config('synchronous_commit', 'off', true);

    -- All serialising rows are locked first, in the order of their keys: two of these calls in different orders could
    -- deadlock.
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

    v_left := ${syncguard_locks}_leave(p_lock_ids);

    -- The others, and entries that have become leases since the first look.
    RETURN QUERY
    SELECT CASE WHEN r.lock_id = ANY (v_left) THEN 'left' ELSE ${syncguard_locks}_release(r.lock_id) END
    FROM pg_catalog.unnest(p_lock_ids) WITH ORDINALITY AS r (lock_id, position)
    ORDER BY r.position;
END
$function$;

-- Releases a lease, or leaves the queue, as _hand_over does, and returns the outcome. It hands the key to nobody, and
-- wakes waiters instead.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_release(p_lock_id TEXT) RETURNS TEXT
LANGUAGE plpgsql AS $function$
DECLARE
    v_outcome   TEXT;
    v_no_grants BIGINT[];
BEGIN
    CALL ${syncguard_locks}_hand_over(
        NULL::TEXT, p_lock_id, NULL::TEXT, NULL::BOOLEAN, NULL::BIGINT, v_outcome, v_no_grants);
    RETURN v_outcome;
END
$function$;

-- Releases the live lease with this lock id (outcome 'released'), or leaves the queue ('left'). Otherwise the outcome
-- is 'busy', 'expired' or 'not_found'. These are its steps:
-- 1. The serialising row is locked. If the caller expects waiters, a fence is drawn with it.
-- 2. If the first waiter accepts a hand-over of the exclusive lease, its entry is deleted, and the row of the lease
--    becomes its lease.
-- 3. Otherwise the lease is deleted, and lapsed entries in front, too. Then the key is handed out to the first waiters
--    that accept it: a writer, or several readers with permits. Others are woken.
--    If there is no such lease, the queue entry with this lock id is deleted.
-- 4. The messages to the new holders are sent.
--
-- p_key is the key of the lock id, or null if the caller does not know it. p_fence is null if probably nobody waits,
-- and 0 if somebody does; a wrong guess costs time only. Otherwise it is the fence that the caller has drawn, with the
-- serialising row locked.
--
-- A hand-over to a waiter of p_channel is in the answer, four numbers for each: that of the waiter, the fence, and the
-- times of the grant and of its end. To another channel it is a message, because the answer reaches only the process
-- that calls. With p_commits, messages of grants have a transaction of their own: a commit that notifies blocks all
-- others that notify, and must not wait for the disk. A procedure cannot commit inside a transaction of the client. If
-- p_commits is null, nobody is handed the key.
CREATE OR REPLACE PROCEDURE ${syncguard_locks}_hand_over(
    p_key TEXT, p_lock_id TEXT, p_channel TEXT, p_commits BOOLEAN, p_fence BIGINT,
    INOUT outcome TEXT, INOUT handed_over BIGINT[]
)
LANGUAGE plpgsql AS $procedure$
DECLARE
    v_key      TEXT := coalesce(p_key, ${syncguard_locks}_key_of(p_lock_id));
    v_now      BIGINT;
    v_locked   BOOLEAN;
    v_granted  BOOLEAN;
    v_channels TEXT[];
    v_messages TEXT[];
    "Grant"    RECORD;
BEGIN
    -- The serialising row is locked first, with the next fence if somebody waits: a request that has looked and is
    -- about to be granted or to queue would not see this release.
    IF p_fence = 0 THEN
        p_fence := ${syncguard_locks}_next_fence(v_key);
    END IF;
    IF p_fence > 0 THEN
        -- The first waiter, if it accepts a hand-over and nothing else blocks it: the lease that is released has to be
        -- live and not locked by others; beside it, there are no shared ones. The clock is read after the wait for a
        -- renewal under way, so that the grant is younger than every confirmation of the entry.
        DELETE FROM ${syncguard_locks}_waiters w
        WHERE w.key = v_key
            AND w.arrival = (SELECT min(f.arrival) FROM ${syncguard_locks}_waiters f WHERE f.key = v_key)
            AND w.hand_over AND NOT w.shared AND w.expires_at_ms > ${syncguard_locks}_now()
            AND (
                SELECT true FROM ${syncguard_locks} l
                WHERE l.lock_id = p_lock_id AND l.key = v_key
                    AND ${syncguard_locks}_is_live(l.expires_at_ms, ${syncguard_locks}_now())
                FOR UPDATE SKIP LOCKED
            )
        RETURNING w.* INTO "Grant";
        IF FOUND THEN
            v_now := ${syncguard_locks}_now();
            UPDATE ${syncguard_locks} l
            SET lock_id = "Grant".lock_id, expires_at_ms = v_now + "Grant".ttl_ms, acquired_at_ms = v_now,
                fence = ${syncguard_locks}_fence_text(p_fence), owner = "Grant".owner
            WHERE l.key = v_key;
            outcome := 'released';
            handed_over := ARRAY["Grant".waiter, p_fence, v_now, v_now + "Grant".ttl_ms];
            IF "Grant".channel = p_channel THEN
                RETURN;
            END IF;
            v_channels := ARRAY["Grant".channel];
            v_messages := ARRAY[${syncguard_locks}_message("Grant".secret, handed_over)];
            handed_over := NULL;
        ELSE
            -- The fence is given back, because only a grant draws one. Nobody has seen it.
            UPDATE ${syncguard_fence_counters} c SET fence = p_fence - 1
            WHERE c.fence_key = ${syncguard_locks}_fence_key(v_key);
        END IF;
    ELSE
        PERFORM 1 FROM ${syncguard_fence_counters} c
        WHERE c.fence_key = ${syncguard_locks}_fence_key(v_key)
        FOR NO KEY UPDATE;
        IF NOT FOUND THEN
            -- There is no lease, or somebody has deleted its counter.
            v_key := ${syncguard_locks}_key_of(p_lock_id);
            IF v_key IS NULL THEN
                outcome := 'not_found';
                RETURN;
            END IF;
            v_locked := ${syncguard_locks}_lock_key(v_key, true);
        END IF;
    END IF;

    IF outcome IS NULL THEN
        IF NOT ${syncguard_locks}_delete_lease(v_key, p_lock_id, true) THEN
            outcome := CASE
                WHEN ${syncguard_locks}_leave(ARRAY(
                    SELECT w.lock_id FROM ${syncguard_locks}_waiters w WHERE w.lock_id = p_lock_id AND w.key = v_key
                )) OPERATOR(pg_catalog.<>) '{}' THEN 'left'
                ELSE ${syncguard_locks}_outcome_of(p_lock_id)
            END;
        ELSE
            outcome := 'released';
            IF p_commits IS NULL THEN
                PERFORM ${syncguard_locks}_wake(v_key, NULL::BIGINT, NULL::INTEGER)
                WHERE EXISTS (SELECT FROM ${syncguard_locks}_waiters w WHERE w.key = v_key);
            ELSIF EXISTS (SELECT FROM ${syncguard_locks}_waiters w WHERE w.key = v_key) THEN
                FOR "Grant" IN SELECT g.* FROM ${syncguard_locks}_hand_out(v_key) g LOOP
                    IF "Grant".channel = p_channel THEN
                        handed_over := handed_over OPERATOR(pg_catalog.||) "Grant".granted;
                    ELSE
                        v_channels := v_channels OPERATOR(pg_catalog.||) "Grant".channel;
                        v_messages := v_messages OPERATOR(pg_catalog.||) "Grant".message;
                    END IF;
                END LOOP;
            END IF;
        END IF;
    END IF;

    -- A grant is durable before it is reported. A release that is lost in a crash costs one ttl, so it need not be
    -- durable. Every later grant is flushed together with it, because the log is written in order.
    v_granted := handed_over IS NOT NULL OR v_channels IS NOT NULL;
    IF v_channels IS NOT NULL AND p_commits THEN
        COMMIT;
        v_granted := false;
    END IF;
    IF NOT v_granted THEN
        PERFORM pg_catalog.set_config('synchronous_commit', 'off', true);
    END IF;
    FOR v_message IN 1 .. coalesce(pg_catalog.cardinality(v_channels), 0) LOOP
        PERFORM pg_catalog.pg_notify(v_channels[v_message], v_messages[v_message]);
    END LOOP;
END
$procedure$;

-- Deletes the live lease with this lock id, and returns whether it did. Without p_awaited, the function locks the
-- serialising row, and deletes no lease for which somebody waits: most releases are no more than this call. With
-- p_awaited, the caller has locked the serialising row, and it does not matter who waits.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_delete_lease(p_key TEXT, p_lock_id TEXT, p_awaited BOOLEAN)
RETURNS BOOLEAN
LANGUAGE plpgsql AS $function$
BEGIN
    IF NOT p_awaited THEN
        -- The serialising row is locked first, as in _hand_over.
        PERFORM 1 FROM ${syncguard_fence_counters} c
        WHERE c.fence_key = ${syncguard_locks}_fence_key(p_key)
        FOR NO KEY UPDATE;
        IF NOT FOUND THEN
            RETURN false;
        END IF;
        PERFORM pg_catalog.set_config('synchronous_commit', 'off', true);
    END IF;
    -- The lock id, under the row lock: the key may have another holder by now, and a queue entry may have become a
    -- lease. The clock is read here, too: a lapsed lease may be about to be taken over.
    DELETE FROM ${syncguard_locks} l WHERE l.lock_id = (
        SELECT s.lock_id FROM ${syncguard_locks} s
        WHERE s.lock_id = p_lock_id AND s.key = p_key
            AND ${syncguard_locks}_is_live(s.expires_at_ms, ${syncguard_locks}_now())
            AND (p_awaited OR NOT EXISTS (SELECT FROM ${syncguard_locks}_waiters w WHERE w.key = p_key))
        FOR UPDATE SKIP LOCKED
    );
    IF NOT FOUND THEN
        DELETE FROM ${syncguard_locks}_shared l WHERE l.lock_id = (
            SELECT s.lock_id FROM ${syncguard_locks}_shared s
            WHERE s.lock_id = p_lock_id AND s.key = p_key
                AND ${syncguard_locks}_is_live(s.expires_at_ms, ${syncguard_locks}_now())
                AND (p_awaited OR NOT EXISTS (SELECT FROM ${syncguard_locks}_waiters w WHERE w.key = p_key))
            FOR UPDATE SKIP LOCKED
        );
    END IF;
    RETURN FOUND;
END
$function$;

-- Releases those of these leases that are live and whose keys have no queue entries; a shared one also if a waiter with
-- permits is at the front. Returns the lock ids of the released leases. Each of the others has to be released alone.
-- Like _acquire_batch, the function does not wait for a locked row, and fails without effect where PostgreSQL waits in
-- spite of SKIP LOCKED. The hand-overs to waiters of p_channel are in the answer, as those of _hand_over; others are
-- messages.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_release_batch(p_lock_ids TEXT[], p_channel TEXT)
RETURNS TABLE (released_lock_id TEXT, handed_over BIGINT[])
LANGUAGE plpgsql
SET lock_timeout = '20ms'
AS $function$
DECLARE
    v_durable  TEXT := pg_catalog.current_setting('synchronous_commit');
    v_keys     TEXT[];
    v_released BIGINT;
    "Freed"    RECORD;
    "Grant"    RECORD;
BEGIN
    -- A release need not be durable, as in _hand_over.
    PERFORM pg_catalog.set_config('synchronous_commit', 'off', true);

    -- The serialising rows are locked first: a request that has looked and is about to be granted or to queue would not
    -- see this release.
    v_keys := ${syncguard_locks}_lock_keys(ARRAY(
        SELECT l.key FROM ${syncguard_locks} l WHERE l.lock_id = ANY (p_lock_ids)));

    -- The lock ids are compared again under the row locks: the keys may have other holders and waiters by now.
    RETURN QUERY
    DELETE FROM ${syncguard_locks} l WHERE l.ctid = ANY (ARRAY(
        SELECT s.ctid FROM ${syncguard_locks} s
        WHERE s.lock_id = ANY (p_lock_ids) AND s.key = ANY (v_keys)
            AND ${syncguard_locks}_is_live(s.expires_at_ms, ${syncguard_locks}_now())
            AND NOT EXISTS (SELECT FROM ${syncguard_locks}_waiters w WHERE w.key = s.key OFFSET 0)
        FOR UPDATE SKIP LOCKED
    )) RETURNING l.lock_id, NULL::BIGINT[];
    GET DIAGNOSTICS v_released = ROW_COUNT;
    IF v_released = pg_catalog.cardinality(p_lock_ids) THEN
        RETURN;
    END IF;

    -- The shared leases in the same way. A place for which others wait with permits is handed out.
    v_keys := ${syncguard_locks}_lock_keys(ARRAY(
        SELECT s.key FROM ${syncguard_locks}_shared s WHERE s.lock_id = ANY (p_lock_ids)));
    FOR "Freed" IN
        WITH "Deleted" AS (
            DELETE FROM ${syncguard_locks}_shared l WHERE l.ctid = ANY (ARRAY(
                SELECT s.ctid FROM ${syncguard_locks}_shared s
                -- IS TRUE keeps the plan from the index of the keys.
                WHERE s.lock_id = ANY (p_lock_ids) AND (s.key = ANY (v_keys)) IS TRUE
                    AND ${syncguard_locks}_is_live(s.expires_at_ms, ${syncguard_locks}_now())
                    AND coalesce((
                        SELECT w.shared AND w.permits IS NOT NULL FROM ${syncguard_locks}_waiters w
                        WHERE w.key = s.key ORDER BY w.arrival LIMIT 1
                    ), true)
                FOR UPDATE SKIP LOCKED
            )) RETURNING l.key, l.lock_id
        )
        SELECT d.key, pg_catalog.array_agg(d.lock_id) AS lock_ids FROM "Deleted" d GROUP BY d.key
    LOOP
        handed_over := NULL;
        IF EXISTS (SELECT FROM ${syncguard_locks}_waiters w WHERE w.key = "Freed".key) THEN
            FOR "Grant" IN SELECT g.* FROM ${syncguard_locks}_hand_out("Freed".key) g LOOP
                -- A grant is durable before it is reported.
                PERFORM pg_catalog.set_config('synchronous_commit', v_durable, true);
                IF "Grant".channel = p_channel THEN
                    handed_over := handed_over OPERATOR(pg_catalog.||) "Grant".granted;
                ELSE
                    PERFORM pg_catalog.pg_notify("Grant".channel, "Grant".message);
                END IF;
            END LOOP;
        END IF;
        FOREACH released_lock_id IN ARRAY "Freed".lock_ids LOOP
            RETURN NEXT;
            handed_over := NULL;
        END LOOP;
    END LOOP;
END
$function$;

-- Grants a key to the first waiters of its queue that accept a hand-over, as far as there is room for them: 64 at most.
-- Then it wakes the waiters that can be granted the key. Returns a row for each grant: granted is the number of the
-- waiter, the fence, and the times of the grant and of its end; the message says the same, with the secret. The caller
-- has locked the serialising row, and the key has no exclusive lease.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_hand_out(p_key TEXT)
RETURNS TABLE (channel TEXT, message TEXT, granted BIGINT[])
LANGUAGE plpgsql AS $function$
DECLARE
    v_now     BIGINT := ${syncguard_locks}_now();
    v_fence   BIGINT;
    v_is_live BOOLEAN;
    "Next"    RECORD;
BEGIN
    -- A lapsed lease that is left counts: an extension under way may revive it.
    PERFORM ${syncguard_locks}_delete_lapsed(p_key, false, 1, v_now) WHERE EXISTS (
        SELECT FROM ${syncguard_locks}_shared s
        WHERE s.key = p_key AND NOT ${syncguard_locks}_is_live(s.expires_at_ms, v_now));
    FOR v_number IN 1 .. 64 LOOP
        SELECT w.*, w.permits IS NULL OR NOT EXISTS (
                   SELECT FROM ${syncguard_locks}_shared s WHERE s.key = p_key OFFSET w.permits - 1
               ) AS has_room, w.permits IS NOT NULL AND EXISTS (
                   SELECT FROM ${syncguard_locks}_shared s
                   WHERE s.key = p_key
                       AND ${syncguard_locks}_is_live(s.expires_at_ms, v_now + ${syncguard_locks}_poll(w.ttl_ms))
                   OFFSET w.permits - 1
               ) AS is_full, (
                   SELECT c.fence < ${syncguard_locks}_last_fence() FROM ${syncguard_fence_counters} c
                   WHERE c.fence_key = ${syncguard_locks}_fence_key(p_key)
               ) AS has_fence
        INTO "Next" FROM ${syncguard_locks}_waiters w WHERE w.key = p_key ORDER BY w.arrival LIMIT 1;
        IF NOT FOUND OR "Next".expires_at_ms > v_now AND "Next".is_full AND v_fence IS NOT NULL THEN
            RETURN;
        END IF;
        -- Without a grant, the first waiter is woken even if a lapsed lease has its place: it looks again until
        -- whoever locks that lease has ended.
        EXIT WHEN "Next".expires_at_ms > v_now AND (
            NOT "Next".has_room OR NOT "Next".hand_over OR "Next".permits IS NULL OR NOT "Next".has_fence);
        -- A lapsed entry is deleted and never skipped. The clock is read after the wait for a renewal under way, so
        -- that a grant is younger than every confirmation of the entry.
        DELETE FROM ${syncguard_locks}_waiters w
        WHERE w.lock_id = "Next".lock_id AND ("Next".expires_at_ms > v_now OR w.expires_at_ms <= v_now)
        RETURNING w.expires_at_ms > ${syncguard_locks}_now() INTO v_is_live;
        CONTINUE WHEN v_is_live IS NOT TRUE;
        v_fence := ${syncguard_locks}_next_fence(p_key);
        v_now := ${syncguard_locks}_grant(
            p_key, "Next".shared, "Next".lock_id, "Next".ttl_ms, "Next".owner, v_fence);
        channel := "Next".channel;
        granted := ARRAY["Next".waiter, v_fence, v_now, v_now + "Next".ttl_ms];
        message := ${syncguard_locks}_message("Next".secret, granted);
        RETURN NEXT;
        IF NOT "Next".shared THEN
            RETURN;
        END IF;
    END LOOP;
    PERFORM ${syncguard_locks}_wake(p_key, NULL::BIGINT, NULL::INTEGER);
END
$function$;

-- Returns the message of a hand-over: the number of the waiter, its secret, the fence, and the times of the grant and
-- of its end. The message carries the secret because every user may notify.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_message(p_secret TEXT, p_granted BIGINT[]) RETURNS TEXT
LANGUAGE sql STABLE AS $function$
    SELECT pg_catalog.concat_ws(' ', p_granted[1], p_secret, p_granted[2], p_granted[3], p_granted[4])
$function$;

-- Ends a lease so that the key is free p_hold_ms after its grant, or now if that time is over. It locks the serialising
-- row, and wakes the front of the queue. The outcome is 'released', 'busy', 'expired' or 'not_found'.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_release_after(p_lock_id TEXT, p_hold_ms BIGINT) RETURNS TEXT
LANGUAGE plpgsql AS $function$
DECLARE
    v_key  TEXT := ${syncguard_locks}_key_of(p_lock_id);
    v_hold BIGINT := p_hold_ms - ${syncguard_locks}_tolerance();
BEGIN
    IF v_key IS NULL THEN
        RETURN 'not_found';
    END IF;
    -- The serialising row is locked first: a request that is about to queue would not learn the new expiry.
    PERFORM ${syncguard_locks}_lock_key(v_key, true);

    -- The lock id and the expiry are compared again under the row lock: the lease may have lapsed, or the key may have
    -- another holder. Under a new lock id, neither a second release nor a late extension reaches the lease. The
    -- tolerance is for a holder that works until the expiry: this one has stopped.
    UPDATE ${syncguard_locks} l SET lock_id = 'released:' || l.lock_id, expires_at_ms = l.acquired_at_ms + v_hold
    WHERE l.key = (
        SELECT s.key FROM ${syncguard_locks} s
        WHERE s.lock_id = p_lock_id AND ${syncguard_locks}_is_live(s.expires_at_ms, ${syncguard_locks}_now())
        FOR UPDATE SKIP LOCKED
    );
    IF NOT FOUND THEN
        UPDATE ${syncguard_locks}_shared l SET lock_id = 'released:' || l.lock_id,
            expires_at_ms = l.acquired_at_ms + v_hold
        WHERE l.lock_id = (
            SELECT s.lock_id FROM ${syncguard_locks}_shared s
            WHERE s.lock_id = p_lock_id AND ${syncguard_locks}_is_live(s.expires_at_ms, ${syncguard_locks}_now())
            FOR UPDATE SKIP LOCKED
        );
    END IF;
    IF NOT FOUND THEN
        RETURN ${syncguard_locks}_outcome_of(p_lock_id);
    END IF;
    PERFORM ${syncguard_locks}_wake(v_key, 0::BIGINT, 1)
    WHERE EXISTS (SELECT FROM ${syncguard_locks}_waiters w WHERE w.key = v_key);
    RETURN 'released';
END
$function$;

-- Renews queue entries, and returns for each renewed entry in how many milliseconds its waiter has to look again, as
-- _acquire does; 0 if it can be granted the key now. A waiter that is not in the answer has to look at once: its entry
-- is lost, or another transaction locks the entry and may be making a lease of it. The function does not lock the
-- serialising row, so its answer is a hint, and the next acquire request looks again.
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
               CASE WHEN k.shared + CASE
                   WHEN (k.shared < pg_catalog.first_value(q.permits) OVER "InFront") IS NOT FALSE
                       THEN count(*) OVER "InFront"
                   ELSE 0
               END >= q.permits THEN least(k.exclusive_until, k.shared_until) ELSE k.exclusive_until END
                   + ${syncguard_locks}_tolerance() AS leases,
               min(q.expires_at_ms) FILTER (WHERE q.permits IS NOT NULL) OVER "InFront" AS with_permits,
               CASE WHEN q.permits IS NOT NULL THEN min(q.expires_at_ms) OVER "InFront" END AS everybody
        FROM (
            SELECT k.key,
                   (SELECT l.expires_at_ms FROM ${syncguard_locks} l
                    WHERE l.key = k.key AND ${syncguard_locks}_is_live(l.expires_at_ms, v_now)) AS exclusive_until,
                   (SELECT min(s.expires_at_ms) FROM ${syncguard_locks}_shared s
                    WHERE s.key = k.key AND ${syncguard_locks}_is_live(s.expires_at_ms, v_now)) AS shared_until,
                   CASE WHEN EXISTS (
                       SELECT FROM ${syncguard_locks}_waiters w WHERE w.key = k.key AND w.permits > 1 OFFSET 0
                   ) THEN (
                       SELECT count(*) FROM ${syncguard_locks}_shared s
                       WHERE s.key = k.key AND ${syncguard_locks}_is_live(s.expires_at_ms, v_now)
                   ) ELSE 1 END AS shared
            FROM pg_catalog.unnest(v_keys) AS k (key) OFFSET 0
        ) AS k, LATERAL (
            SELECT w.* FROM ${syncguard_locks}_waiters w WHERE w.key = k.key AND w.expires_at_ms > v_now OFFSET 0
        ) AS q
        WINDOW "InFront" AS (PARTITION BY q.key ORDER BY q.arrival ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
    )
    SELECT q.lock_id, coalesce(least(q.leases, q.with_permits, q.everybody) - v_now, 0) FROM "Queue" q
    -- IS TRUE makes it a lookup in a hash table. A join, planned for few rows, would compare each entry with each.
    WHERE (q.lock_id IN (SELECT r.lock_id FROM pg_catalog.unnest(v_renewed) AS r (lock_id))) IS TRUE;
END
$function$;

-- Deletes these queue entries, and returns the lock ids of those that it has deleted. It wakes the waiters of each key
-- once. The caller has locked the serialising rows.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_leave(p_lock_ids TEXT[]) RETURNS TEXT[]
LANGUAGE plpgsql AS $function$
DECLARE
    "Left" RECORD;
    v_left TEXT[] := '{}';
BEGIN
    FOR "Left" IN
        WITH "Deleted" AS (
            DELETE FROM ${syncguard_locks}_waiters w WHERE w.lock_id = ANY (p_lock_ids)
            RETURNING w.key, w.lock_id, w.arrival, w.permits
        )
        SELECT d.key, min(d.arrival) AS arrival, min(d.permits) AS permits,
               pg_catalog.array_agg(d.lock_id) AS lock_ids
        FROM "Deleted" d GROUP BY d.key
    LOOP
        v_left := v_left OPERATOR(pg_catalog.||) "Left".lock_ids;
        PERFORM ${syncguard_locks}_wake("Left".key, "Left".arrival, "Left".permits);
    END LOOP;
    RETURN v_left;
END
$function$;

-- Wakes the waiters behind one with so many permits that was just granted the key: those for whom there is room, and
-- those for whom a lapse makes room before their next poll. If it has no limit, the readers behind it have been woken
-- with it, and a writer waits for all readers. The caller has locked the serialising row.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_wake_beside(p_key TEXT, p_permits INTEGER) RETURNS VOID
LANGUAGE plpgsql AS $function$
BEGIN
    PERFORM ${syncguard_locks}_wake(p_key, NULL::BIGINT, NULL::INTEGER) WHERE p_permits IS NOT NULL OR (
        SELECT w.permits IS NOT NULL AND (w.shared OR NOT EXISTS (
            SELECT FROM ${syncguard_locks}_shared s
            WHERE s.key = p_key AND ${syncguard_locks}_is_live(
                s.expires_at_ms, ${syncguard_locks}_now() + ${syncguard_locks}_poll(w.ttl_ms))))
        FROM ${syncguard_locks}_waiters w
        WHERE w.key = p_key AND w.expires_at_ms > ${syncguard_locks}_now() ORDER BY w.arrival LIMIT 1
    );
END
$function$;

-- Wakes the waiters that can be granted the key now, or that could be if a lease lapses before their next poll. Such a
-- waiter may have chosen its next look for an earlier lease, or for a waiter in front that was granted this one since.
-- The function deletes lapsed queue entries first. The caller has locked the serialising row.
--
-- p_left is null, or the arrival of a waiter that has left, and p_permits are the permits of that one: then the
-- function also wakes those behind it, because their next look was chosen for that waiter. The waiter with permits
-- behind readers has to look, too: the readers may be granted the key and release it without a wake-up. Readers without
-- a limit do not block each other. p_left 0 with p_permits 1 wakes the whole front of the queue.
--
-- The front of the queue is the readers in front of the first waiter with permits, and that waiter. Nobody else is
-- woken.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_wake(p_key TEXT, p_left BIGINT, p_permits INTEGER) RETURNS VOID
LANGUAGE plpgsql AS $function$
DECLARE
    v_now BIGINT := ${syncguard_locks}_now();
BEGIN
    -- Lapsed entries are deleted and never skipped, and the delete waits for a renewal under way: such an entry would
    -- be in front of the waiters that are woken.
    DELETE FROM ${syncguard_locks}_waiters w WHERE w.key = p_key AND w.expires_at_ms <= ${syncguard_locks}_now();

    PERFORM pg_catalog.pg_notify(q.channel, q.waiter::TEXT)
    FROM (
        SELECT w.*, w.permits IS NULL OR w.arrival = (
                   SELECT min(f.arrival) FROM ${syncguard_locks}_waiters f WHERE f.key = p_key
               ) AS is_next,
               v_now + ${syncguard_locks}_poll(w.ttl_ms) AS until_ms
        FROM ${syncguard_locks}_waiters w
        WHERE w.key = p_key AND w.channel IS NOT NULL AND w.arrival <= coalesce(
            (SELECT min(f.arrival) FROM ${syncguard_locks}_waiters f WHERE f.key = p_key AND f.permits IS NOT NULL),
            9223372036854775807)
    ) AS q
    WHERE q.arrival > p_left AND (p_permits IS NOT NULL OR q.is_next AND q.permits IS NOT NULL)
        OR q.is_next
            AND NOT EXISTS (
                SELECT FROM ${syncguard_locks} l
                WHERE l.key = p_key AND ${syncguard_locks}_is_live(l.expires_at_ms, q.until_ms))
            AND (q.permits IS NULL OR NOT EXISTS (
                SELECT FROM ${syncguard_locks}_shared s
                WHERE s.key = p_key AND ${syncguard_locks}_is_live(s.expires_at_ms, q.until_ms)
                OFFSET q.permits - 1));
END
$function$;

-- Returns the key of the lease or queue entry with this lock id, or null if there is none. It locks nothing.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_key_of(p_lock_id TEXT) RETURNS TEXT
LANGUAGE plpgsql AS $function$
BEGIN
    -- All three tables are read in one snapshot: a hand-over moves a row from the queue to the leases, and two looks
    -- could miss both.
    RETURN (
        SELECT o.key FROM (
            SELECT s.key, s.lock_id FROM ${syncguard_locks}_shared s
            UNION ALL SELECT w.key, w.lock_id FROM ${syncguard_locks}_waiters w
            UNION ALL SELECT l.key, l.lock_id FROM ${syncguard_locks} l
        ) o WHERE o.lock_id = p_lock_id LIMIT 1
    );
END
$function$;

-- Returns why the lease with this lock id, exclusive or shared, was neither extended nor released: the words of
-- _outcome. It locks nothing.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_outcome_of(p_lock_id TEXT) RETURNS TEXT
LANGUAGE plpgsql AS $function$
BEGIN
    RETURN ${syncguard_locks}_outcome(coalesce(
        (SELECT l.expires_at_ms FROM ${syncguard_locks} l WHERE l.lock_id = p_lock_id),
        (SELECT s.expires_at_ms FROM ${syncguard_locks}_shared s WHERE s.lock_id = p_lock_id)));
END
$function$;

-- Extends many leases at once, and does not wait for a locked row. The answers are in the order of the lock ids:
-- 'extended' with the new expiry, 'busy', 'expired' or 'not_found'.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_extend(p_lock_ids TEXT[], p_ttls_ms BIGINT[])
RETURNS TABLE (outcome TEXT, extended_until_ms BIGINT)
LANGUAGE plpgsql AS $function$
DECLARE
    v_now       BIGINT := ${syncguard_locks}_now();
    -- The serialising rows of the leases that are to end earlier: a request that is about to queue would learn the old
    -- expiry, and no wake-up would bring the new one. An extension does not wait for a row.
    v_shortened TEXT[] := ${syncguard_locks}_lock_keys(ARRAY(
        SELECT l.key
        FROM unnest(p_lock_ids, p_ttls_ms) AS w (lock_id, ttl_ms), LATERAL (
            SELECT o.key, o.expires_at_ms FROM ${syncguard_locks} o WHERE o.lock_id = w.lock_id
            UNION ALL SELECT o.key, o.expires_at_ms FROM ${syncguard_locks}_shared o WHERE o.lock_id = w.lock_id
            OFFSET 0
        ) AS l
        WHERE l.expires_at_ms > v_now + w.ttl_ms
    ));
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
        PERFORM ${syncguard_locks}_wake(k.key, 0::BIGINT, 1) FROM pg_catalog.unnest(v_shortened) AS k (key)
        WHERE EXISTS (SELECT FROM ${syncguard_locks}_waiters w WHERE w.key = k.key OFFSET 0);
    END IF;
END
$function$;

-- Extends one exclusive lease, and gives it the next fence of its key; it waits for no locked row. The outcome is
-- 'rotated' with the new expiry and fence, or 'no_fences', 'busy', 'expired' or 'not_found'; then nothing was written.
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

    -- The serialising row is locked first: a takeover or a release under way would not be seen, and the lease would be
    -- written beside it. It skips a locked row, because a holder that rotates must not wait.
    IF ${syncguard_locks}_lock_key(v_key, false) THEN
        -- The lock id is compared again under the row lock: the key may have another holder by now. The weakest lock
        -- that an update takes passes a transaction that pins the lease.
        SELECT l.expires_at_ms INTO v_expires FROM ${syncguard_locks} l
        WHERE l.key = v_key AND l.lock_id = p_lock_id
        FOR NO KEY UPDATE SKIP LOCKED;
        -- The clock is read with both rows locked: a lapsed lease is not revived.
        v_now := ${syncguard_locks}_now();
        IF ${syncguard_locks}_is_live(v_expires, v_now) THEN
            rotated_fence := ${syncguard_locks}_next_fence(v_key);
            IF rotated_fence = 0 THEN
                rotated_fence := NULL;
                outcome := 'no_fences';
                RETURN;
            END IF;
            rotated_until_ms := v_now + p_ttl_ms;
            UPDATE ${syncguard_locks} l
            SET expires_at_ms = rotated_until_ms, fence = ${syncguard_locks}_fence_text(rotated_fence)
            WHERE l.key = v_key;
            IF rotated_until_ms < v_expires THEN
                PERFORM ${syncguard_locks}_wake(v_key, 0::BIGINT, 1);
            END IF;
            outcome := 'rotated';
            RETURN;
        END IF;
    END IF;

    SELECT l.expires_at_ms INTO v_expires FROM ${syncguard_locks} l WHERE l.lock_id = p_lock_id;
    outcome := ${syncguard_locks}_outcome(v_expires);
END
$function$;

-- Ends the leases of a key at the request of an operator; with p_fence, only the lease with this fence. It draws a
-- fence that is larger than theirs, and wakes the waiters that can be granted the key now. A lease whose row a
-- transaction locks remains. Returns the live leases, and which of them have ended. drawn_fence is null if none has,
-- and 0 if the counter is at its end.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_force_release(p_key TEXT, p_fence BIGINT DEFAULT NULL)
RETURNS TABLE (
    released BOOLEAN, user_key TEXT, lock_id TEXT, mode TEXT, acquired_at_ms BIGINT, expires_at_ms BIGINT,
    fence TEXT, owner TEXT, drawn_fence BIGINT
)
LANGUAGE plpgsql AS $function$
DECLARE
    v_now   BIGINT;
    v_ids   TEXT[];
    v_fence BIGINT;
BEGIN
    -- The serialising row is locked first, as in _hand_over. Without a lease the key may have no counter, and gets
    -- none.
    PERFORM 1 FROM ${syncguard_fence_counters} c
    WHERE c.fence_key = ${syncguard_locks}_fence_key(p_key)
    FOR NO KEY UPDATE;
    -- The clock is read after the wait for the row, in which a lease may have lapsed.
    v_now := ${syncguard_locks}_now();

    v_ids := ARRAY(
        SELECT l.lock_id FROM ${syncguard_locks} l
        WHERE l.key = p_key AND (p_fence IS NULL OR l.fence = ${syncguard_locks}_fence_text(p_fence))
        FOR UPDATE SKIP LOCKED
    ) || ARRAY(
        SELECT s.lock_id FROM ${syncguard_locks}_shared s
        WHERE s.key = p_key AND (p_fence IS NULL OR s.fence = ${syncguard_locks}_fence_text(p_fence))
        FOR UPDATE SKIP LOCKED
    );
    IF EXISTS (
        SELECT 1 FROM ${syncguard_locks} l
        WHERE l.lock_id = ANY (v_ids) AND ${syncguard_locks}_is_live(l.expires_at_ms, v_now)
        UNION ALL
        SELECT 1 FROM ${syncguard_locks}_shared s
        WHERE s.lock_id = ANY (v_ids) AND ${syncguard_locks}_is_live(s.expires_at_ms, v_now)
    ) THEN
        PERFORM ${syncguard_locks}_lock_key(p_key, true);
        v_fence := ${syncguard_locks}_next_fence(p_key);
    END IF;
    RETURN QUERY
    SELECT l.lock_id = ANY (v_ids), l.user_key, l.lock_id, 'EXCLUSIVE'::TEXT, l.acquired_at_ms, l.expires_at_ms,
        l.fence, l.owner, v_fence
    FROM ${syncguard_locks} l
    WHERE l.key = p_key AND ${syncguard_locks}_is_live(l.expires_at_ms, v_now)
    UNION ALL
    SELECT s.lock_id = ANY (v_ids), s.user_key, s.lock_id, 'SHARED'::TEXT, s.acquired_at_ms, s.expires_at_ms,
        s.fence, s.owner, v_fence
    FROM ${syncguard_locks}_shared s
    WHERE s.key = p_key AND ${syncguard_locks}_is_live(s.expires_at_ms, v_now)
    ORDER BY 7;

    DELETE FROM ${syncguard_locks} l WHERE l.lock_id = ANY (v_ids);
    DELETE FROM ${syncguard_locks}_shared s WHERE s.lock_id = ANY (v_ids);
    IF v_fence IS NOT NULL THEN
        PERFORM ${syncguard_locks}_wake(p_key, NULL::BIGINT, NULL::INTEGER);
    END IF;
END
$function$;

-- Deletes the leases of these keys that expired more than twice the tolerance ago, and returns their number. It also
-- deletes lapsed queue entries and wakes waiters, but deletes no counters. Keys whose serialising row another
-- transaction locks are left for the next cleanup.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_sweep(p_keys TEXT[]) RETURNS INTEGER
LANGUAGE plpgsql AS $function$
DECLARE
    v_keys   TEXT[];
    v_swept  INTEGER;
    v_shared INTEGER;
BEGIN
    -- A cleanup that is lost in a crash is repeated by the next one.
    PERFORM pg_catalog.set_config('synchronous_commit', 'off', true);

    -- The serialising rows are locked first: an acquire request for one of these keys waits for this short transaction,
    -- and is not refused by a row that is being deleted. Rows in use are skipped.
    v_keys := ${syncguard_locks}_lock_keys(p_keys);

    -- The delete has a fresh snapshot and reads the clock now: a key may have been granted or a lease extended
    -- meanwhile.
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
    PERFORM ${syncguard_locks}_wake(k.key, NULL::BIGINT, NULL::INTEGER) FROM pg_catalog.unnest(v_keys) AS k (key)
    WHERE EXISTS (SELECT FROM ${syncguard_locks}_waiters w WHERE w.key = k.key OFFSET 0);
    RETURN v_swept + v_shared;
END
$function$;

-- Deletes the counters that were idle for p_retention_ms, if fences come from the clock. It looks at the thousand
-- counters behind p_after, and returns the last of them, or null if there are none.
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
        -- The row lock is of key strength, so that nothing changes the keys until the commit. Rows in use are skipped.
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

-- Returns those of these counters that are idle: their fences are smaller than p_fence, and their keys have neither
-- leases nor queue entries. It locks nothing.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_idle_counters(p_fence_keys TEXT[], p_fence BIGINT) RETURNS TEXT[]
LANGUAGE plpgsql AS $function$
BEGIN
    RETURN ARRAY(
        SELECT c.fence_key FROM ${syncguard_fence_counters} c
        WHERE c.fence_key = ANY (p_fence_keys) AND c.fence < p_fence
            AND NOT EXISTS (
                SELECT FROM ${syncguard_locks} l WHERE l.key = ${syncguard_locks}_key_of_fence(c.fence_key)
                UNION ALL SELECT FROM ${syncguard_locks}_shared s
                WHERE s.key = ${syncguard_locks}_key_of_fence(c.fence_key)
                UNION ALL SELECT FROM ${syncguard_locks}_waiters w
                WHERE w.key = ${syncguard_locks}_key_of_fence(c.fence_key) OFFSET 0)
    );
END
$function$;

-- Returns the transactions that lock a row, by its xmax: that one, or the members of that multixact. The numbers of
-- both begin at 1, so a wrong one is possible where there have been few transactions. It serves diagnostics.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_lockers(p_xmax XID) RETURNS SETOF XID
LANGUAGE plpgsql AS $function$
BEGIN
    RETURN NEXT p_xmax;
    RETURN QUERY SELECT m.xid FROM pg_catalog.pg_get_multixact_members(p_xmax) m;
EXCEPTION
    WHEN OTHERS THEN -- There is no such multixact.
        RETURN;
END
$function$;

-- Returns the version of the script, which the library checks at its start: it works with this version and later ones.
-- Raise it when the library needs something new.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_version() RETURNS INTEGER LANGUAGE sql IMMUTABLE AS 'SELECT 7';

IF "Unlimited" THEN
    PERFORM pg_catalog.set_config('lock_timeout', '0', true);
END IF;
END
$script$;
