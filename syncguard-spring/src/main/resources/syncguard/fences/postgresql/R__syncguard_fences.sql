-- The largest fence that each resource has seen. NEVER delete a row: the resource would accept an older fence again.
-- Runs by Flyway or by SyncGuard; by hand, put the name of the table in place of ${syncguard_fences}.

-- Refuses a table that a stranger has put there, or its trigger: its code would run with the rights of whoever checks a
-- fence. No stranger is the user who runs the script or a role whose rights it inherits, a superuser, and a role with
-- the rights of the owner of the schema or of the database; for a user who may not create in the schema, also the owner
-- of the table. FenceSchema reads the query from here, for each start.
DO $do$
DECLARE
    "Foreign" pg_catalog.record;
BEGIN
    FOR "Foreign" IN
        WITH "Table" AS (
            SELECT oid, relname, relowner, relnamespace FROM pg_catalog.pg_class
            WHERE oid OPERATOR(pg_catalog.=) pg_catalog.to_regclass('${syncguard_fences}')
        ), "Found" (kind, name, owner) AS (
            SELECT 'table', relname::pg_catalog.text, relowner FROM "Table"
            UNION ALL
            SELECT 'function of the trigger ' OPERATOR(pg_catalog.||) t.tgname::pg_catalog.text,
                p.oid::pg_catalog.regprocedure::pg_catalog.text, p.proowner
            FROM "Table" f
            JOIN pg_catalog.pg_trigger t ON t.tgrelid OPERATOR(pg_catalog.=) f.oid AND NOT t.tgisinternal
            JOIN pg_catalog.pg_proc p ON p.oid OPERATOR(pg_catalog.=) t.tgfoid
        )
        SELECT f.kind, f.name, o.rolname AS owner, current_user AS me,
            pg_catalog.quote_ident(n.nspname::pg_catalog.text) AS home
        FROM "Found" f
        JOIN pg_catalog.pg_roles o ON o.oid OPERATOR(pg_catalog.=) f.owner
        JOIN pg_catalog.pg_roles m ON m.rolname OPERATOR(pg_catalog.=) current_user
        JOIN pg_catalog.pg_database d ON d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()
        CROSS JOIN "Table" h
        JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) h.relnamespace
        WHERE NOT (o.rolsuper OR o.oid OPERATOR(pg_catalog.=) m.oid
            OR NOT m.rolsuper AND pg_catalog.pg_has_role(m.oid, o.oid, 'USAGE'::pg_catalog.text)
            OR pg_catalog.pg_has_role(o.oid, n.nspowner, 'MEMBER'::pg_catalog.text)
            OR pg_catalog.pg_has_role(o.oid, d.datdba, 'MEMBER'::pg_catalog.text)
            OR o.oid OPERATOR(pg_catalog.=) h.relowner
                AND NOT pg_catalog.has_schema_privilege(n.oid, 'CREATE'::pg_catalog.text))
        LIMIT 1
    LOOP
        RAISE EXCEPTION 'The % % of the fences belongs to %, whose code would run with the rights of others',
            "Foreign".kind, "Foreign".name, "Foreign".owner
        USING ERRCODE = 'insufficient_privilege',
              HINT = 'Drop it if somebody else has put it there; otherwise make its owner the owner of the schema.';
    END LOOP;
END
$do$;

CREATE TABLE IF NOT EXISTS ${syncguard_fences} (
    resource pg_catalog.text COLLATE pg_catalog."C" NOT NULL PRIMARY KEY,
    fence    BIGINT NOT NULL
) WITH (fillfactor = 70);
