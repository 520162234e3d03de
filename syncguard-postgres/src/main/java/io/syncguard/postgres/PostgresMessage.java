package io.syncguard.postgres;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.postgresql.util.ServerErrorMessage;

/** What may be told of an error of the server: a lock id is a secret, and the server quotes the values of a statement. */
final class PostgresMessage {

    /** 128 bits in base64url. Names in SQL have neither capitals nor digits as a rule, and a lock id has some. */
    private static final Pattern LOCK_ID = Pattern.compile("(?<![\\w-])(?=[\\w-]*[A-Z0-9])[\\w-]{22}(?![\\w-])");

    private PostgresMessage() {}

    /**
     * Without detail, context and internal query. The text and the hint stay, except for what may be a lock id: a
     * trigger of the application may quote a row in them.
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

    /** As in the protocol: a letter, and the text up to a zero. */
    private static String part(char type, @Nullable String text) {
        return text == null ? "" : type + text + '\0';
    }
}
