CREATE FUNCTION planted_counter_deleted() RETURNS TRIGGER LANGUAGE plpgsql AS $function$
BEGIN
    DELETE FROM ${syncguard_fence_counters} c WHERE c.fence_key = ${syncguard_locks}_fence_key(OLD.key);
    RETURN NULL;
END
$function$;
CREATE TRIGGER planted_counter_deleted AFTER DELETE ON ${syncguard_locks}
FOR EACH ROW EXECUTE FUNCTION planted_counter_deleted();
