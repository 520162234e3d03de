CREATE OR REPLACE FUNCTION ${syncguard_locks}_free_readers(p_keys TEXT[], p_lock_ids TEXT[], p_permits INTEGER[])
RETURNS BIGINT[]
LANGUAGE plpgsql AS $function$
BEGIN
    RETURN ARRAY(
        SELECT r.position
        FROM unnest(p_keys, p_lock_ids, p_permits) WITH ORDINALITY AS r (key, lock_id, permits, position)
        WHERE NOT EXISTS (SELECT FROM ${syncguard_locks} l WHERE l.key = r.key)
            AND NOT EXISTS (
                SELECT FROM ${syncguard_locks}_waiters w
                LEFT JOIN ${syncguard_locks}_waiters o ON o.lock_id = r.lock_id
                WHERE w.key = r.key AND coalesce(r.permits, w.permits) IS NOT NULL AND w.lock_id <> r.lock_id
                    AND (o.arrival IS NULL OR w.arrival < o.arrival)
            )
            AND (r.permits IS NULL OR r.permits > (
                SELECT count(*) FROM ${syncguard_locks}_shared s WHERE s.key = r.key
            ))
    );
END
$function$;
