package io.syncguard.postgres;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.postgresql.util.ServerErrorMessage;

/**
 * Removes lock ids from errors of the server. A lock id is a secret, and the server quotes the values of a statement.
 */
final class PostgresMessage {

    /** Matches 128 bits in base64url, with a capital or a digit: a lock id has some, and names in SQL rarely do. */
    private static final Pattern LOCK_ID = Pattern.compile("(?<![\\w-])(?=[\\w-]*[A-Z0-9])[\\w-]{22}(?![\\w-])");

    private PostgresMessage() {}

    /**
     * Removes detail, context and internal query. Masks possible lock ids in the text and the hint, because a trigger
     * of the application may quote a row there.
     */
    static ServerErrorMessage withoutArguments(ServerErrorMessage error) {
        return new ServerErrorMessage(part('S', error.getSeverity())
                + part('C', error.getSQLState())
                + part('M', masked(error.getMessage()))
                + part('H', masked(error.getHint()))
                + part('s', error.getSchema())
                + part('t', error.getTable())
                + part('c', error.getColumn())
                + part('d', error.getDatatype())
                + part('n', error.getConstraint())
                + part('F', error.getFile())
                + part('L', String.valueOf(error.getLine()))
                + part('R', error.getRoutine()));
    }

    private static @Nullable String masked(@Nullable String text) {
        return text == null ? null : LOCK_ID.matcher(text).replaceAll("...");
    }

    /** Encodes a field as in the protocol of the server: a letter, the text and a zero byte. */
    private static String part(char type, @Nullable String text) {
        return text == null ? "" : type + text + '\0';
    }
}
