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
     * Keeps severity, SQLSTATE, text and hint. Masks possible lock ids in the last two, because a trigger of the
     * application may quote a row there.
     */
    static ServerErrorMessage withoutArguments(ServerErrorMessage error) {
        return new ServerErrorMessage(Field.SEVERITY.with(error.getSeverity())
                + Field.SQLSTATE.with(error.getSQLState())
                + Field.MESSAGE.with(masked(error.getMessage()))
                + Field.HINT.with(masked(error.getHint())));
    }

    /**
     * A field as the server sends it, which is the only form that the driver reads.
     *
     * @see <a href="https://www.postgresql.org/docs/current/protocol-error-fields.html">Error fields</a>
     */
    private enum Field {
        SEVERITY('S'),
        SQLSTATE('C'),
        MESSAGE('M'),
        HINT('H');

        private final char letter;

        Field(char letter) {
            this.letter = letter;
        }

        String with(@Nullable String text) {
            return text == null ? "" : letter + text + '\0';
        }
    }

    private static @Nullable String masked(@Nullable String text) {
        return text == null ? null : LOCK_ID.matcher(text).replaceAll("...");
    }
}
