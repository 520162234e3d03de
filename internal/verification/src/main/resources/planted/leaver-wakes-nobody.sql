CREATE OR REPLACE FUNCTION ${syncguard_locks}_leave(p_lock_ids TEXT[]) RETURNS TEXT[]
LANGUAGE plpgsql AS $function$
DECLARE
    v_left TEXT[];
BEGIN
    WITH deleted AS (
        DELETE FROM ${syncguard_locks}_waiters w WHERE w.lock_id = ANY (p_lock_ids) RETURNING w.key, w.lock_id
    ), woken AS (
        SELECT ${syncguard_locks}_wake(d.key, NULL::BIGINT, NULL::INTEGER)::TEXT FROM deleted d
    )
    SELECT coalesce(array_agg(d.lock_id), '{}') INTO v_left FROM deleted d, (SELECT count(*) FROM woken) AS w;
    RETURN v_left;
END
$function$;
