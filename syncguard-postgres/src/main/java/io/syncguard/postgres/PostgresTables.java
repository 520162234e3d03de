package io.syncguard.postgres;

import io.syncguard.LockSetupException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * The names of two tables, checked once so that they can become SQL text: plain identifiers of at most 48 bytes, with
 * an optional schema in front. The server refuses its reserved words. The functions, and the tables of shared leases
 * and of waiters, are named after the table of the locks.
 *
 * @param locks one row per exclusive lease
 * @param fenceCounters one row per key that was ever locked; never swept
 */
public record PostgresTables(String locks, String fenceCounters) {

    /** 48 bytes leave room for the suffixes of functions and indexes: PostgreSQL cuts identifiers off at 63. */
    private static final String IDENTIFIER = "[A-Za-z_][A-Za-z0-9_]{0,47}";

    private static final Pattern NAME = Pattern.compile(IDENTIFIER + "(\\." + IDENTIFIER + ")?");

    /** The default names. Declared below the constants that check them. */
    public static final PostgresTables DEFAULT = new PostgresTables("syncguard_locks", "syncguard_fence_counters");

    public PostgresTables {
        check("syncguard.postgres.locks-table", locks);
        check("syncguard.postgres.fence-counters-table", fenceCounters);
        for (String swept : List.of(locks, sharedOf(locks), waitersOf(locks))) {
            if (mayBeTheSame(folded(swept), folded(fenceCounters))) {
                throw LockSetupException.invalid(
                        "syncguard.postgres.fence-counters-table is '" + fenceCounters
                                + "', which is or may be the same table as '" + swept
                                + "' of the locks-table '" + locks
                                + "' (PostgreSQL ignores case, and looks for a name without a schema in several), but"
                                + " fence counters need a table of their own, which is never swept",
                        "Choose another name in syncguard.postgres.fence-counters-table");
            }
        }
    }

    /**
     * Checks the name of a table that has to differ from these.
     *
     * @param property the property with the name
     * @throws LockSetupException if the name may mean one of these tables, or cannot be the name of a table
     */
    public void requireAnother(String property, String name) {
        check(property, name);
        for (String table : all()) {
            if (mayBeTheSame(folded(table), folded(name))) {
                throw LockSetupException.invalid(
                        property + " is '" + name + "', which is or may be the same table as '" + table
                                + "' of the locks (PostgreSQL ignores case, and looks for a name without a schema in"
                                + " several)",
                        "Choose another name in " + property);
            }
        }
    }

    /** The table with one row per shared lease. */
    public String shared() {
        return sharedOf(locks);
    }

    /** The table with one row per waiter. */
    public String waiters() {
        return waitersOf(locks);
    }

    List<String> all() {
        return List.of(locks, shared(), waiters(), fenceCounters);
    }

    /** The placeholders for the names in the schema script, without the <code>${}</code>. */
    public Map<String, String> placeholders() {
        return Map.of("syncguard_locks", withQuotedSchema(locks), "syncguard_fence_counters", fenceCounters);
    }

    /**
     * Quotes the schema. The script also puts it in front of the name of a type, where some words are illegal without
     * quotes.
     */
    private static String withQuotedSchema(String name) {
        int dot = name.indexOf('.');
        return dot < 0 ? name : "\"" + folded(name.substring(0, dot)) + "\"" + name.substring(dot);
    }

    /** Replaces the placeholders for the names of the tables. */
    String fill(String text) {
        return fill(text, placeholders());
    }

    static String fill(String text, Map<String, String> placeholders) {
        String filled = text;
        for (Map.Entry<String, String> placeholder : placeholders.entrySet()) {
            filled = filled.replace("${" + placeholder.getKey() + "}", placeholder.getValue());
        }
        return filled;
    }

    private static String sharedOf(String locks) {
        return locks + "_shared";
    }

    private static String waitersOf(String locks) {
        return locks + "_waiters";
    }

    private static void check(String property, String name) {
        if (!NAME.matcher(name).matches()) {
            throw LockSetupException.invalid(
                    property + " is '" + name + "', but has to be a plain identifier of at most 48 letters, digits and"
                            + " underscores, with an optional schema and a dot in front",
                    "Choose another name in " + property);
        }
        for (String part : folded(name).split("\\.")) {
            // PostgreSQL finds its own tables first, and those in pg_temp differ from session to session.
            if (part.startsWith("pg_")) {
                throw LockSetupException.invalid(
                        property + " is '" + name + "', but PostgreSQL keeps '" + part
                                + "' for itself, as it does all names that begin with pg_",
                        "Choose another name in " + property);
            }
        }
    }

    /**
     * If only one of two equal names has a schema, the search path of the role decides whether both are one table.
     */
    private static boolean mayBeTheSame(String one, String other) {
        return one.equals(other) || one.endsWith("." + other) || other.endsWith("." + one);
    }

    /** Folds a name as PostgreSQL does without quotes. */
    private static String folded(String name) {
        return name.toLowerCase(Locale.ROOT);
    }
}
