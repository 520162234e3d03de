package io.syncguard.postgres;

import io.syncguard.postgres.PostgresConnections.Reader;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** Reads an answer of many rows. */
final class PostgresRows {

    private PostgresRows() {}

    /** Reads every row. */
    static <T> List<T> all(ResultSet rows, Reader<T> row) throws SQLException {
        List<T> all = new ArrayList<>();
        while (rows.next()) {
            all.add(row.read(rows));
        }
        return all;
    }

    /** Returns an empty text for NULL. */
    static String text(ResultSet rows, String column) throws SQLException {
        String text = rows.getString(column);
        return text == null ? "" : text;
    }

    /** Reads an answer that has one row for each lock id sent. */
    static <T> List<T> oneForEach(int sent, ResultSet rows, Reader<T> row) throws SQLException {
        List<T> all = all(rows, row);
        if (all.size() != sent) {
            throw new IllegalStateException(sent + " lock ids got " + all.size() + " answers");
        }
        return all;
    }
}
