package io.syncguard.portable;

import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A statement with its parameters.
 *
 * @param parameters numbers, texts, bytes and nulls
 */
record Sql(String text, List<? extends @Nullable Object> parameters) {

    static Sql of(String text, @Nullable Object... parameters) {
        return new Sql(text, Arrays.asList(parameters));
    }

    /** Returns question marks for a list of so many values. */
    static String marks(int values) {
        return String.join(",", Collections.nCopies(values, "?"));
    }

    /** The condition that one of several is true. */
    static String anyOf(String condition, int number) {
        return " WHERE " + String.join(" OR ", Collections.nCopies(number, "(" + condition + ")"));
    }

    /** Returns groups of question marks for the rows of an insert. */
    static String rows(int rows, int columns) {
        String row = "(" + String.join(",", Collections.nCopies(columns, "?")) + ")";
        return String.join(",", Collections.nCopies(rows, row));
    }
}
