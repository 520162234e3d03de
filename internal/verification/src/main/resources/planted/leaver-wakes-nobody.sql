CREATE OR REPLACE FUNCTION ${syncguard_locks}_wake_behind(p_key TEXT, p_arrival BIGINT, p_permits INTEGER) RETURNS VOID
LANGUAGE plpgsql AS $function$
BEGIN
    PERFORM pg_notify(f.channel, f.waiter::TEXT) FROM ${syncguard_locks}_front_waiters(p_key) f WHERE f.grantable;
END
$function$;
