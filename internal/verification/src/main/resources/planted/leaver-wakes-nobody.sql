CREATE OR REPLACE FUNCTION ${syncguard_locks}_wake_behind(p_key TEXT, p_arrival BIGINT, p_shared BOOLEAN) RETURNS VOID
LANGUAGE plpgsql AS $function$
BEGIN
    PERFORM pg_notify(f.channel, f.waiter::TEXT) FROM ${syncguard_locks}_queue_front(p_key) f WHERE f.can_go_on;
END
$function$;
