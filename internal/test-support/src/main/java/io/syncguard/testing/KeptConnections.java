package io.syncguard.testing;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * Connections to PostgreSQL that look new. The server needs up to 50 ms for each new one, so this process keeps the
 * last few that were closed, of all databases. They lose the settings, locks and prepared statements of their session.
 */
@SuppressWarnings("serial")
final class KeptConnections extends PGSimpleDataSource {

    private static final int MOST = 8;

    /** The one that was closed last is the first. */
    private static final Deque<Kept> KEPT = new ArrayDeque<>();

    private record Kept(String url, Connection connection) {}

    @Override
    public Connection getConnection() throws SQLException {
        String url = getURL() + " " + getUser();
        for (Connection kept = take(url); kept != null; kept = take(url)) {
            // A test may have ended its session.
            if (kept.isValid(1)) {
                return keptAfterwards(url, kept);
            }
            kept.close();
        }
        return keptAfterwards(url, super.getConnection());
    }

    private static @Nullable Connection take(String url) {
        synchronized (KEPT) {
            for (Iterator<Kept> each = KEPT.iterator(); each.hasNext(); ) {
                Kept kept = each.next();
                if (kept.url.equals(url)) {
                    each.remove();
                    return kept.connection;
                }
            }
            return null;
        }
    }

    private static Connection keptAfterwards(String url, Connection connection) {
        AtomicBoolean closed = new AtomicBoolean();
        return (Connection) Proxy.newProxyInstance(
                KeptConnections.class.getClassLoader(),
                new Class<?>[] {Connection.class},
                (proxy, method, arguments) -> {
                    switch (method.getName()) {
                        case "close" -> {
                            if (closed.compareAndSet(false, true)) {
                                keep(url, connection);
                            }
                            return null;
                        }
                        case "isClosed" -> {
                            return closed.get() || connection.isClosed();
                        }
                        case "equals" -> {
                            return proxy == arguments[0];
                        }
                        case "hashCode" -> {
                            return System.identityHashCode(proxy);
                        }
                        default -> {
                            if (closed.get() && !method.getName().equals("abort")) {
                                throw new SQLException("This connection has been closed.", "08003");
                            }
                            try {
                                return method.invoke(connection, arguments);
                            } catch (InvocationTargetException ex) {
                                throw Objects.requireNonNull(ex.getCause());
                            }
                        }
                    }
                });
    }

    private static void keep(String url, Connection connection) throws SQLException {
        if (connection.isClosed()) {
            return;
        }
        try (Statement statement = connection.createStatement()) {
            if (!connection.getAutoCommit()) {
                connection.rollback();
                connection.setAutoCommit(true);
            }
            connection.setReadOnly(false);
            connection.setNetworkTimeout(Runnable::run, 0);
            connection.clearWarnings();
            statement.execute("DISCARD ALL");
            statement.execute("SET application_name = '" + PostgresServer.KEPT + "'");
        } catch (SQLException ex) {
            connection.close();
            return;
        }
        Connection oldest = null;
        synchronized (KEPT) {
            KEPT.addFirst(new Kept(url, connection));
            if (KEPT.size() > MOST) {
                oldest = KEPT.removeLast().connection;
            }
        }
        if (oldest != null) {
            oldest.close();
        }
    }
}
