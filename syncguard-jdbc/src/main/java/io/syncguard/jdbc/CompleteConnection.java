package io.syncguard.jdbc;

import io.syncguard.concurrent.Chain;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Wrapper;
import java.util.Set;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * A connection of the application. What a wrapper of the application lacks, the driver's own connection behind it has,
 * unless that would bypass what the wrapper does with statements and transactions.
 */
public final class CompleteConnection implements InvocationHandler {

    private static final Log log = LogFactory.getLog(CompleteConnection.class);

    /** What a connection makes. */
    static final Set<Class<?>> PARTS =
            Set.of(Statement.class, PreparedStatement.class, ResultSet.class, DatabaseMetaData.class);

    /** These methods go to the driver's connection if the pool's lacks them. Methods that only read go there, too. */
    private static final Set<String> OF_DRIVER = Set.of("createArrayOf", "setNetworkTimeout", "abort", "clearWarnings");

    private final Connection connection;
    private final Driver driver;

    /** The connection or a part of it. */
    private final Object target;

    private CompleteConnection(Connection connection, Driver driver, Object target) {
        this.connection = connection;
        this.driver = driver;
        this.target = target;
    }

    /** Finds the driver's own connection behind wrappers. */
    @FunctionalInterface
    interface Driver {
        @Nullable
        Connection behind(Connection connection) throws SQLException;
    }

    static Connection of(Connection connection, JdbcDatabase database) {
        return of(connection, database::ofDriver);
    }

    /** The connection of any database. */
    public static Connection of(Connection connection) {
        return of(connection, any -> Chain.end(any, CompleteConnection::beneath));
    }

    private static Connection of(Connection connection, Driver driver) {
        return (Connection) proxy(Connection.class, new CompleteConnection(connection, driver, connection));
    }

    private static @Nullable Connection beneath(Connection layer) {
        try {
            Connection beneath = layer.isWrapperFor(Connection.class) ? layer.unwrap(Connection.class) : null;
            return beneath == layer ? null : beneath;
        } catch (SQLException | UnsupportedOperationException | AbstractMethodError ex) {
            log.debug("A layer of the connection does not say what it wraps", ex);
            return null;
        }
    }

    private static Object proxy(Class<?> type, CompleteConnection handler) {
        return Proxy.newProxyInstance(CompleteConnection.class.getClassLoader(), new Class<?>[] {type}, handler);
    }

    @Override
    public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] args) throws Throwable {
        // Shows each layer, because one may log statements.
        if (method.getDeclaringClass() == Wrapper.class
                && args != null
                && args[0] instanceof Class<?> type
                && type.isInstance(target)) {
            return method.getName().equals("unwrap") ? target : true;
        }
        try {
            Object result = method.invoke(target, args);
            return result != null && PARTS.contains(method.getReturnType())
                    ? proxy(method.getReturnType(), new CompleteConnection(connection, driver, result))
                    : result;
        } catch (InvocationTargetException ex) {
            Throwable failure = ex.getTargetException();
            if (!MissingFeatureException.isLack(failure)) {
                throw failure;
            }
            Object own = ofDriver(method);
            if (own == null) {
                throw new MissingFeatureException(method, connection.getClass(), failure);
            }
            return invokeOn(own, method, args);
        }
    }

    /** Returns {@code null} if the driver's connection must not, or cannot, be used for it. */
    private @Nullable Object ofDriver(Method method) {
        if (!(target instanceof DatabaseMetaData) && !(target == connection && isOfDriver(method.getName()))) {
            return null;
        }
        try {
            Connection own = driver.behind(connection);
            if (own == null || own == connection) {
                return null;
            }
            return target == connection ? own : own.getMetaData();
        } catch (SQLException | UnsupportedOperationException | AbstractMethodError ex) {
            log.debug("The connection does not say what it wraps", ex);
            return null;
        }
    }

    private static boolean isOfDriver(String method) {
        return method.matches("(get|is[^W]).*") || OF_DRIVER.contains(method);
    }

    private static @Nullable Object invokeOn(Object own, Method method, Object @Nullable [] args) throws Throwable {
        try {
            return method.invoke(own, args);
        } catch (InvocationTargetException ex) {
            throw ex.getTargetException();
        }
    }
}
