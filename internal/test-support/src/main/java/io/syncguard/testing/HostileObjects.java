package io.syncguard.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Objects that an attacker with the right to create in {@code public} can put there, so that calls of the library find
 * them: operators and functions with the same name, for each combination of types that could fit a call. Each object
 * counts its calls and fails.
 */
public final class HostileObjects {

    private static final Pattern CALL = Pattern.compile("\\b([a-z][a-z0-9_]*)\\s*\\(");

    private static final String TYPES = """
            text, varchar, name, bpchar, int2, int4, int8, numeric, float8, bool, timestamptz, oid, regclass,
            regprocedure, xid, "char", text[], varchar[], name[], int8[], int4[]\
            """;

    private static final String OPERATORS = "+ - * / % = <> < > <= >= || ~~";

    /** Creates one function, unless one with this signature exists. */
    private static final String CREATE = """
            CREATE FUNCTION attack.put(name TEXT, parameters TEXT, result TEXT) RETURNS VOID LANGUAGE plpgsql AS $f$
            BEGIN
                EXECUTE format('CREATE FUNCTION public.%I(%s) RETURNS %s LANGUAGE plpgsql AS $h$ BEGIN'
                    ' PERFORM pg_catalog.nextval(''attack.calls'');'
                    ' RAISE EXCEPTION ''somebody else''''s function was called: %I(%s)''; END $h$',
                    name, parameters, result, name, replace(parameters, '"', ''));
            EXCEPTION WHEN duplicate_function OR invalid_function_definition OR undefined_object
                OR insufficient_privilege THEN NULL;
            END $f$
            """;

    private static final String PUT_OPERATORS = """
            DO $do$
            DECLARE
                l TEXT; r TEXT; o TEXT; f TEXT; n INTEGER := 0;
            BEGIN
                FOREACH l IN ARRAY string_to_array(:types, ',') LOOP
                    FOREACH r IN ARRAY string_to_array(:types, ',') LOOP
                        n := n + 1;
                        f := 'operator_' || n;
                        PERFORM attack.put(f || '_bool', l || ',' || r, 'bool');
                        PERFORM attack.put(f || '_left', l || ',' || r, l);
                        FOREACH o IN ARRAY string_to_array(:operators, ' ') LOOP
                            EXECUTE format('CREATE OPERATOR public.%s (FUNCTION = public.%I, LEFTARG = %s,'
                                || ' RIGHTARG = %s)', o,
                                f || CASE WHEN o IN ('+', '-', '*', '/', '%', '||') THEN '_left' ELSE '_bool' END,
                                l, r);
                        END LOOP;
                    END LOOP;
                END LOOP;
            END $do$
            """;

    /**
     * Creates functions with the names and parameter counts of those in pg_catalog and of the library, with all
     * combinations of types that a call could use. With many parameters, only those combinations that change one
     * parameter or all parameters of a type.
     */
    private static final String PUT_FUNCTIONS = """
            DO $do$
            DECLARE
                p RECORD; t TEXT; types TEXT[]; near TEXT[]; fits TEXT[]; more TEXT[]; s TEXT;
            BEGIN
                FOR p IN
                    SELECT DISTINCT proname, CASE WHEN provariadic = 0 THEN proargtypes::oid[]
                           ELSE proargtypes::oid[] || array_fill(provariadic, ARRAY[extra.n]) END AS args
                    FROM pg_proc, generate_series(0, 4) AS extra (n)
                    WHERE proname = ANY (string_to_array(:names, ',')) AND (provariadic <> 0 OR extra.n = 0)
                        AND pronamespace IN ('pg_catalog'::regnamespace, :schema::regnamespace)
                        AND proowner <> 'attacker'::regrole AND 2281 <> ALL (proargtypes::oid[])
                LOOP
                    fits := ARRAY[''];
                    FOREACH t IN ARRAY ARRAY(SELECT format_type(a.oid, NULL)
                                             FROM unnest(p.args) WITH ORDINALITY AS a (oid, n) ORDER BY a.n)
                    LOOP
                        near := CASE
                            WHEN t IN ('text', 'character varying', 'name') THEN ARRAY['text', 'varchar', 'name']
                            WHEN t IN ('bigint', 'integer', 'numeric', 'double precision', 'smallint')
                                THEN ARRAY['int8', 'int4', 'numeric', 'float8']
                            WHEN t = 'anyarray' THEN ARRAY['text[]', 'varchar[]', 'int8[]', 'int4[]']
                            WHEN t LIKE 'any%%' OR t = '"any"' THEN ARRAY['text', 'varchar', 'int8', 'int4']
                            WHEN t = 'text[]' THEN ARRAY['text[]', 'varchar[]']
                            WHEN t = 'bigint[]' THEN ARRAY['int8[]', 'int4[]']
                            WHEN t = 'oid' THEN ARRAY['oid', 'regclass', 'int8']
                            ELSE ARRAY[t]
                        END;
                        IF cardinality(fits) * cardinality(near) > 256 THEN
                            -- Only the first choices go on in each combination; the last ones in those of one type.
                            near := near[1:2];
                            fits := fits[1:16] || fits[cardinality(fits) - 16:];
                        END IF;
                        fits := ARRAY(SELECT CASE WHEN f = '' THEN e ELSE f || ',' || e END
                                      FROM unnest(fits) AS f, unnest(near) AS e);
                    END LOOP;
                    FOREACH s IN ARRAY fits LOOP
                        PERFORM attack.put(p.proname, s, 'int8');
                    END LOOP;
                END LOOP;
            END $do$
            """;

    private final JdbcTemplate administrator;

    private HostileObjects(JdbcTemplate administrator) {
        this.administrator = administrator;
    }

    /**
     * Lets a role create in {@code public}, and creates the objects as that role.
     *
     * @param schema the schema with the functions of the library, whose texts name the functions that they call
     * @param statements the statements that the library also sends
     */
    public static HostileObjects in(String url, String schema, List<String> statements) {
        JdbcTemplate administrator = new JdbcTemplate(PostgresServer.dataSource(url + "&currentSchema=pg_catalog"));
        administrator.execute("""
                DO $$ BEGIN CREATE ROLE attacker; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$;
                CREATE SCHEMA attack;
                CREATE SEQUENCE attack.calls;
                GRANT USAGE ON SCHEMA attack TO PUBLIC;
                GRANT USAGE, SELECT ON SEQUENCE attack.calls TO PUBLIC;
                GRANT USAGE, CREATE ON SCHEMA public TO attacker;
                """);
        administrator.execute(CREATE);
        Set<String> names = new TreeSet<>();
        administrator
                .queryForList(
                        "SELECT proname || '() ' || prosrc FROM pg_proc WHERE pronamespace = CAST(? AS regnamespace)",
                        String.class,
                        schema)
                .forEach(text -> names.addAll(calls(text)));
        statements.forEach(text -> names.addAll(calls(text)));
        try (Connection connection = administrator.getDataSource().getConnection();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute("SET ROLE attacker");
            for (String script : List.of(PUT_FUNCTIONS, PUT_OPERATORS)) {
                statement.execute(script.replace(":types", "'" + TYPES.replaceAll("\\s", "") + "'")
                        .replace(":operators", "'" + OPERATORS + "'")
                        .replace(":names", "'" + String.join(",", names) + "'")
                        .replace(":schema", "'" + schema + "'"));
            }
            connection.commit();
        } catch (SQLException ex) {
            throw new IllegalStateException(ex);
        }
        return new HostileObjects(administrator);
    }

    private static List<String> calls(String text) {
        return CALL.matcher(text)
                .results()
                .map(MatchResult::group)
                .map(call -> call.replaceAll("[\\s(]", ""))
                .toList();
    }

    /** Asserts that no object was called. */
    public void assertNotCalled() {
        assertThat(administrator.queryForObject("SELECT is_called FROM attack.calls", Boolean.class))
                .as("a function of somebody else was called")
                .isFalse();
    }

    /** The number of objects. */
    public long size() {
        return administrator.queryForObject(
                "SELECT (SELECT count(*) FROM pg_proc WHERE proowner = CAST('attacker' AS regrole))"
                        + " + (SELECT count(*) FROM pg_operator WHERE oprowner = CAST('attacker' AS regrole))",
                Long.class);
    }
}
