CREATE OR REPLACE FUNCTION ${syncguard_locks}_wake_beside(p_key TEXT, p_permits INTEGER) RETURNS VOID
LANGUAGE plpgsql AS $function$
BEGIN
END
$function$;
