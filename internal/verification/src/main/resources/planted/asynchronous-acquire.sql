CREATE FUNCTION planted_asynchronous_acquire() RETURNS TRIGGER LANGUAGE plpgsql AS $function$
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    RETURN NULL;
END
$function$;
CREATE TRIGGER planted_asynchronous_acquire AFTER INSERT ON ${syncguard_locks}
FOR EACH STATEMENT EXECUTE FUNCTION planted_asynchronous_acquire();
