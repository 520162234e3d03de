package io.syncguard.postgres;

import io.syncguard.LockErrorCode;
import io.syncguard.LockSetupException;
import io.syncguard.spi.FenceSource;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** Whether the user may do with the tables and functions what locks need: those that are there, all in one query. */
final class PostgresRights {

    private static final Pattern FUNCTION = Pattern.compile("^CREATE OR REPLACE FUNCTION (\\S+)\\(", Pattern.MULTILINE);

    /** A name that is missing or ambiguous is no answer. */
    private static final String MISSING = """
            SELECT m.privilege, m.name
            FROM ROWS FROM (pg_catalog.unnest(?::TEXT[]), pg_catalog.unnest(?::TEXT[])) AS m(privilege, name)
            WHERE CASE m.privilege OPERATOR(pg_catalog.=) 'EXECUTE'
                WHEN true THEN NOT pg_catalog.has_function_privilege(pg_catalog.to_regproc(m.name)::OID, m.privilege)
                ELSE NOT pg_catalog.has_table_privilege(pg_catalog.to_regclass(m.name)::OID, m.privilege)
            END
            """;

    private PostgresRights() {}

    /** @throws LockSetupException with what is missing */
    static void require(Connection connection, PostgresScript script) throws SQLException {
        List<String> privileges = new ArrayList<>();
        List<String> names = new ArrayList<>();
        needed(script)
                .forEach((name, needed) -> needed.forEach(privilege -> {
                    privileges.add(privilege);
                    names.add(name);
                }));
        List<String> missing = new ArrayList<>();
        try (PreparedStatement statement = connection.prepareStatement(MISSING)) {
            statement.setArray(1, connection.createArrayOf("text", privileges.toArray()));
            statement.setArray(2, connection.createArrayOf("text", names.toArray()));
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    missing.add(rows.getString(1) + " ON " + rows.getString(2));
                }
            }
        }
        if (!missing.isEmpty()) {
            throw new LockSetupException(
                    LockErrorCode.AUTH_FAILED,
                    "The user of the DataSource lacks rights that locks need: " + String.join(", ", missing),
                    List.of(
                            "Have an administrator grant them: see \"Least privilege on PostgreSQL\" in docs/security.md"),
                    null);
        }
    }

    private static Map<String, List<String>> needed(PostgresScript script) {
        PostgresTables tables = script.tables();
        List<String> all = List.of("SELECT", "INSERT", "UPDATE", "DELETE");
        Map<String, List<String>> needed = new LinkedHashMap<>();
        needed.put(tables.locks(), all);
        needed.put(tables.shared(), all);
        needed.put(tables.waiters(), all);
        // Counters are forgotten by the clock only.
        needed.put(tables.fenceCounters(), script.fences() == FenceSource.CLOCK ? all : all.subList(0, 3));
        FUNCTION.matcher(script.text()).results().forEach(found -> needed.put(found.group(1), List.of("EXECUTE")));
        return needed;
    }
}
