package io.syncguard.portable;

import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The values of a row, by the positions of their columns. */
final class Row {

    private final @Nullable Object[] values;

    Row(@Nullable Object[] values) {
        this.values = values;
    }

    boolean isNull(int column) {
        return values[column] == null;
    }

    long number(int column) {
        return ((Number) value(column)).longValue();
    }

    String text(int column) {
        return value(column).toString();
    }

    @Nullable
    String textOrNull(int column) {
        return isNull(column) ? null : text(column);
    }

    /** A key, which is stored as its bytes. */
    String key(int column) {
        return new String((byte[]) value(column), StandardCharsets.UTF_8);
    }

    private Object value(int column) {
        return Objects.requireNonNull(values[column], "The server answered null");
    }
}
