package io.syncguard.portable;

import io.syncguard.LockSetupException;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * The names of the tables.
 *
 * @param keys one row a key: the fence counter, which serialises all that happens to the key
 * @param leases live and lapsed leases
 * @param waiters the queues
 */
public record PortableTables(String keys, String leases, String waiters) {

    /** The beginning of the names, unless an application sets its own. */
    public static final String DEFAULT_PREFIX = "syncguard_";

    /** Short enough for names that a database derives from those of the tables. */
    private static final Pattern PREFIX =
            Pattern.compile("([A-Za-z_][A-Za-z0-9_]{0,47}\\.)?[A-Za-z_][A-Za-z0-9_]{0,39}");

    /** {@code syncguard_keys}, {@code syncguard_leases} and {@code syncguard_waiters}. */
    public static final PortableTables DEFAULT = named(DEFAULT_PREFIX);

    /**
     * @param prefix the beginning of their names: at most 40 letters, digits and underscores, with an optional schema
     *     and a dot in front
     * @throws LockSetupException if it is another text
     */
    public static PortableTables named(String prefix) {
        if (!PREFIX.matcher(prefix).matches()) {
            throw LockSetupException.invalid(
                    "syncguard.jdbc.table-prefix is '" + prefix
                            + "', but has to be at most 40 letters, digits and underscores, with an optional schema and"
                            + " a dot in front",
                    "Correct syncguard.jdbc.table-prefix");
        }
        return new PortableTables(prefix + "keys", prefix + "leases", prefix + "waiters");
    }

    /** The placeholders of the script, without the <code>${}</code>. */
    public Map<String, String> placeholders() {
        return Map.of("syncguard_keys", keys, "syncguard_leases", leases, "syncguard_waiters", waiters);
    }

    @Override
    public String toString() {
        return "'" + keys + "', '" + leases + "' and '" + waiters + "'";
    }
}
