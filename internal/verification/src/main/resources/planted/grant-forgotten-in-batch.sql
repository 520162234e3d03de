CREATE OR REPLACE FUNCTION ${syncguard_locks}_free_readers(p_keys TEXT[], p_permits INTEGER[]) RETURNS TEXT[]
LANGUAGE plpgsql AS $function$
BEGIN
    RETURN ARRAY(
        SELECT r.key FROM unnest(p_keys, p_permits) AS r (key, permits)
        GROUP BY r.key
        HAVING NOT EXISTS (SELECT FROM ${syncguard_locks} l WHERE l.key = r.key)
            AND NOT EXISTS (
                SELECT FROM ${syncguard_locks}_waiters w
                WHERE w.key = r.key AND coalesce(min(r.permits), w.permits) IS NOT NULL)
            AND (min(r.permits) IS NULL OR min(r.permits) > (
                SELECT count(*) FROM ${syncguard_locks}_shared s WHERE s.key = r.key
            ))
    );
END
$function$;
