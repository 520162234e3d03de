package io.syncguard.postgres;

import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * The names of the tables, checked once and safe to stand in a statement: plain identifiers of at most 48 bytes, with an
 * optional schema in front. The functions are named after the table of the locks.
 *
 * @param locks one row per lease
 * @param fenceCounters one row per key that was ever locked; never swept
 */
public record PostgresTables(String locks, String fenceCounters) {

    /** 48 bytes leave room for the suffixes of functions and indexes: PostgreSQL cuts identifiers off at 63. */
    private static final String IDENTIFIER = "[A-Za-z_][A-Za-z0-9_]{0,47}";

    private static final Pattern NAME = Pattern.compile(IDENTIFIER + "(\\." + IDENTIFIER + ")?");

    /** The names that the library uses when nothing else is said. Stands below the pattern that it needs. */
    public static final PostgresTables DEFAULT = new PostgresTables("syncguard_locks", "syncguard_fence_counters");

    public PostgresTables {
        check("syncguard.postgres.locks-table", locks);
        check("syncguard.postgres.fence-counters-table", fenceCounters);
        if (mayBeTheSame(folded(locks), folded(fenceCounters))) {
            throw new LockException(
                    LockErrorCode.INVALID_ARGUMENT,
                    "syncguard.postgres.locks-table '" + locks + "' and fence-counters-table '" + fenceCounters
                            + "' are or may be the same table (PostgreSQL ignores case, and looks for a name without a schema in"
                            + " several): fence counters need a table of their own, which is never swept");
        }
    }

    /** What stands in the schema script in place of the names, without the <code>${}</code> around it. */
    public Map<String, String> placeholders() {
        return Map.of("syncguard_locks", locks, "syncguard_fence_counters", fenceCounters);
    }

    /** The text with the placeholders replaced. */
    String fill(String text) {
        String filled = text;
        for (Map.Entry<String, String> placeholder : placeholders().entrySet()) {
            filled = filled.replace("${" + placeholder.getKey() + "}", placeholder.getValue());
        }
        return filled;
    }

    private static void check(String property, String name) {
        if (!NAME.matcher(name).matches()) {
            throw new LockException(
                    LockErrorCode.INVALID_ARGUMENT,
                    property + " is '" + name + "', but has to be a plain identifier of at most 48 letters, digits and"
                            + " underscores, with an optional schema and a dot in front");
        }
    }

    /** Where only one of two equal names has a schema, the search path of a role decides: it may find that very table. */
    private static boolean mayBeTheSame(String one, String other) {
        return one.equals(other) || one.endsWith("." + other) || other.endsWith("." + one);
    }

    /** As PostgreSQL sees a name without quotes. */
    private static String folded(String name) {
        return name.toLowerCase(Locale.ROOT);
    }
}
