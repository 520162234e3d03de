package io.syncguard.portable;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Sends statements on one connection: together, in one round trip, where the driver takes several; else one by one.
 */
final class Session {

    /**
     * What a statement has answered.
     *
     * @param rows its rows; empty if it is no query
     * @param count how many rows it has changed; -1 for a query
     */
    record Answer(List<Row> rows, int count) {}

    private final Connection connection;
    private final boolean sendsTogether;
    private boolean inTransaction;

    Session(Connection connection, boolean sendsTogether) {
        this.connection = connection;
        this.sendsTogether = sendsTogether;
    }

    /** Sends statements that need no common transaction. PostgreSQL's driver makes one of those sent together. */
    List<Answer> send(List<Sql> statements) throws SQLException {
        return sendsTogether ? sendAll(statements) : sendEach(statements);
    }

    /** Begins a transaction, and sends its first statements. */
    List<Answer> begin(List<Sql> statements) throws SQLException {
        inTransaction = true;
        if (sendsTogether) {
            List<Sql> all = new ArrayList<>();
            all.add(Sql.of("START TRANSACTION"));
            all.addAll(statements);
            return sendAll(all).subList(1, all.size());
        }
        connection.setAutoCommit(false);
        return sendEach(statements);
    }

    /** Sends a whole transaction. */
    List<Answer> transact(List<Sql> statements) throws SQLException {
        if (!sendsTogether) {
            List<Answer> answers = begin(statements);
            commit(List.of());
            return answers;
        }
        List<Sql> all = new ArrayList<>(statements);
        all.add(Sql.of("COMMIT"));
        List<Answer> answers = begin(all);
        inTransaction = false;
        return answers;
    }

    /** Sends the last statements of the transaction, and commits it. */
    void commit(List<Sql> statements) throws SQLException {
        if (sendsTogether) {
            List<Sql> all = new ArrayList<>(statements);
            all.add(Sql.of("COMMIT"));
            sendAll(all);
        } else {
            sendEach(statements);
            connection.commit();
            connection.setAutoCommit(true);
        }
        inTransaction = false;
    }

    /** Ends a transaction that is open, without its changes. */
    void rollBack() throws SQLException {
        if (!inTransaction) {
            return;
        }
        if (sendsTogether) {
            sendAll(List.of(Sql.of("ROLLBACK")));
        } else {
            connection.rollback();
            connection.setAutoCommit(true);
        }
        inTransaction = false;
    }

    /** Ends the transaction after a failure. The pool must not hand out a connection that is still in it. */
    void endAfter(Throwable failure) {
        try {
            rollBack();
        } catch (Throwable ex) {
            failure.addSuppressed(ex);
            try {
                connection.abort(Runnable::run);
            } catch (Throwable second) {
                failure.addSuppressed(second);
            }
        }
    }

    private List<Answer> sendEach(List<Sql> statements) throws SQLException {
        List<Answer> answers = new ArrayList<>();
        for (Sql each : statements) {
            answers.addAll(execute(each.text(), List.of(each)));
        }
        return answers;
    }

    private List<Answer> sendAll(List<Sql> statements) throws SQLException {
        List<String> texts = statements.stream().map(Sql::text).toList();
        return execute(String.join(";\n", texts), statements);
    }

    private List<Answer> execute(String text, List<Sql> statements) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(text)) {
            int position = 0;
            for (Sql each : statements) {
                for (Object parameter : each.parameters()) {
                    bind(statement, ++position, parameter);
                }
            }
            List<Answer> answers = new ArrayList<>();
            boolean isQuery = statement.execute();
            for (int i = 0; i < statements.size(); i++) {
                if (i > 0) {
                    isQuery = statement.getMoreResults();
                }
                answers.add(isQuery ? rowsOf(statement) : new Answer(List.of(), statement.getUpdateCount()));
            }
            return answers;
        }
    }

    private static void bind(PreparedStatement statement, int position, @Nullable Object value) throws SQLException {
        if (value instanceof byte[] bytes) {
            statement.setBytes(position, bytes);
        } else if (value instanceof Long number) {
            statement.setLong(position, number);
        } else if (value instanceof Integer number) {
            statement.setInt(position, number);
        } else {
            statement.setString(position, (String) value);
        }
    }

    private static Answer rowsOf(Statement statement) throws SQLException {
        try (ResultSet rows = statement.getResultSet()) {
            int columns = rows.getMetaData().getColumnCount();
            List<Row> all = new ArrayList<>();
            while (rows.next()) {
                @Nullable Object[] values = new Object[columns];
                for (int i = 0; i < columns; i++) {
                    values[i] = rows.getObject(i + 1);
                }
                all.add(new Row(values));
            }
            return new Answer(all, -1);
        }
    }
}
