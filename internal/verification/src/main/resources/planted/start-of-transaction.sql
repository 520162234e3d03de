CREATE OR REPLACE FUNCTION ${syncguard_locks}_now() RETURNS BIGINT
LANGUAGE sql VOLATILE AS $function$
    SELECT floor(extract(epoch FROM now()) * 1000)::BIGINT
$function$;
