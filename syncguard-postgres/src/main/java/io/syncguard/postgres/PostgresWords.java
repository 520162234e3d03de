package io.syncguard.postgres;

import java.io.IOException;
import java.sql.SQLException;
import java.util.Objects;

/** Extracts the message of the server, its driver or the {@code DataSource}, in one line. */
final class PostgresWords {

    private PostgresWords() {}

    /** Returns the message of the server or its driver, which a pool hides beneath its own. */
    static String of(SQLException error) {
        SQLException last = error;
        Throwable cause = error;
        while (cause != null && !(cause instanceof IOException)) {
            last = cause instanceof SQLException sql ? sql : last;
            cause = cause.getCause();
        }
        if (cause == null && PostgresErrors.stateOf(error) == null && ConnectionRefusal.of(error) == null) {
            return firstLine(rootOf(error));
        }
        String io = cause == null ? "" : " (" + cause.getClass().getSimpleName() + ": " + cause.getMessage() + ")";
        return firstLine(last) + io;
    }

    private static Throwable rootOf(Throwable error) {
        Throwable root = error;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        return root;
    }

    private static String firstLine(Throwable error) {
        return Objects.requireNonNullElse(error.getMessage(), error.toString())
                .lines()
                .findFirst()
                .orElse("")
                .replaceFirst("\\.$", "");
    }
}
