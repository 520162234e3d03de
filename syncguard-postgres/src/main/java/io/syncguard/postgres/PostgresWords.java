package io.syncguard.postgres;

import io.syncguard.concurrent.Chain;
import java.io.IOException;
import java.sql.SQLException;
import java.util.Objects;

/** Extracts the message of the server, its driver or the {@code DataSource}, in one line. */
final class PostgresWords {

    private PostgresWords() {}

    /** Returns the message of the server or its driver, which a pool hides beneath its own. */
    static String of(SQLException error) {
        SQLException last = error;
        for (Throwable cause : Chain.causes(error).toList()) {
            if (cause instanceof IOException) {
                return firstLine(last) + " (" + cause.getClass().getSimpleName() + ": " + cause.getMessage() + ")";
            }
            last = cause instanceof SQLException sql ? sql : last;
        }
        boolean isOfServer = SqlState.of(error) != SqlState.NONE || PostgresErrors.refusalOf(error) != null;
        return firstLine(isOfServer ? last : Chain.end(error, Throwable::getCause));
    }

    private static String firstLine(Throwable error) {
        return Objects.requireNonNullElse(error.getMessage(), error.toString())
                .lines()
                .findFirst()
                .orElse("")
                .replaceFirst("\\.$", "");
    }
}
