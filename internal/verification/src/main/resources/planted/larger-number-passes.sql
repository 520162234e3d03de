CREATE FUNCTION planted_larger_number_passes() RETURNS TRIGGER LANGUAGE plpgsql AS $function$
BEGIN
    NEW.arrival := coalesce((
        SELECT min(w.arrival) - 1 FROM ${syncguard_locks}_waiters w
        WHERE w.key = NEW.key AND w.shared AND NEW.shared AND w.permits < NEW.permits
    ), NEW.arrival);
    RETURN NEW;
END
$function$;
CREATE TRIGGER planted_larger_number_passes BEFORE INSERT ON ${syncguard_locks}_waiters
FOR EACH ROW EXECUTE FUNCTION planted_larger_number_passes();
