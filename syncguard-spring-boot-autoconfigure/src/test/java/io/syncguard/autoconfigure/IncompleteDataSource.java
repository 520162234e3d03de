package io.syncguard.autoconfigure;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/** Its connections, their details and their statements lack methods. */
final class IncompleteDataSource extends DelegatingDataSource {

    private static final Set<Class<?>> WRAPPED =
            Set.of(Connection.class, DatabaseMetaData.class, Statement.class, PreparedStatement.class);

    private final Supplier<Throwable> lack;
    private final List<String> methods;

    IncompleteDataSource(DataSource target, Supplier<Throwable> lack, String... methods) {
        super(target);
        this.lack = lack;
        this.methods = List.of(methods);
    }

    /** The first method. */
    String lacked() {
        return methods.get(0);
    }

    @Override
    public Connection getConnection() throws SQLException {
        return (Connection) wrap(Connection.class, super.getConnection());
    }

    private Object wrap(Class<?> type, Object target) {
        return Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] {type}, (proxy, called, args) -> {
            if (methods.contains(called.getName())) {
                throw lack.get();
            }
            try {
                Object result = called.invoke(target, args);
                return WRAPPED.contains(called.getReturnType()) ? wrap(called.getReturnType(), result) : result;
            } catch (InvocationTargetException ex) {
                throw ex.getTargetException();
            }
        });
    }
}
