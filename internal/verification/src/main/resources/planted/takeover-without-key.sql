-- Without its unique index, a lock id is no key, and an update of it passes a transaction that pins the row.
ALTER TABLE ${syncguard_locks} DROP CONSTRAINT syncguard_locks_lock_id_key;
CREATE INDEX ON ${syncguard_locks} (lock_id);

-- A lapsed exclusive lease may remain.
CREATE OR REPLACE FUNCTION ${syncguard_locks}_delete_lapsed(
    p_key TEXT, p_exclusive BOOLEAN, p_shared BOOLEAN, p_now_ms BIGINT
) RETURNS BIGINT
LANGUAGE plpgsql AS $function$
BEGIN
    DELETE FROM ${syncguard_locks} l WHERE l.key = (
        SELECT s.key FROM ${syncguard_locks} s
        WHERE s.key = p_key AND NOT ${syncguard_locks}_is_live(s.expires_at_ms, p_now_ms)
        FOR UPDATE SKIP LOCKED
    );
    IF NOT p_shared THEN
        RETURN 0;
    END IF;
    DELETE FROM ${syncguard_locks}_shared l WHERE l.lock_id = ANY (ARRAY(
        SELECT s.lock_id FROM ${syncguard_locks}_shared s
        WHERE s.key = p_key AND NOT ${syncguard_locks}_is_live(s.expires_at_ms, p_now_ms)
        FOR UPDATE SKIP LOCKED
    ));
    RETURN CASE WHEN EXISTS (SELECT FROM ${syncguard_locks}_shared s WHERE s.key = p_key) THEN 50 ELSE 0 END;
END
$function$;

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
        VALUES (p_key, p_lock_id, v_now + p_ttl_ms, v_now, ${syncguard_locks}_fence_text(p_fence), p_key, p_owner)
        ON CONFLICT (key) DO UPDATE
        SET lock_id = excluded.lock_id, expires_at_ms = excluded.expires_at_ms,
            acquired_at_ms = excluded.acquired_at_ms, fence = excluded.fence, owner = excluded.owner;
    END IF;
    RETURN v_now;
END
$function$;
