package io.syncguard.jdbc;

import io.syncguard.OneLine;
import java.lang.reflect.Method;
import java.sql.SQLFeatureNotSupportedException;
import java.util.List;

/** A connection of the application lacks a feature of JDBC that locks need. */
public final class MissingFeatureException extends SQLFeatureNotSupportedException implements ConnectionRefusal {

    private static final long serialVersionUID = 1L;

    private final String feature;
    private final String type;

    MissingFeatureException(Method feature, Class<?> type, Throwable cause) {
        super(OneLine.of(cause.toString()), cause);
        this.feature = feature.getDeclaringClass().getSimpleName() + "." + feature.getName();
        this.type = type.getName();
    }

    /** Whether this is how a connection says that it lacks a feature. */
    public static boolean isLack(Throwable failure) {
        return failure instanceof SQLFeatureNotSupportedException
                || failure instanceof UnsupportedOperationException
                || failure instanceof AbstractMethodError;
    }

    @Override
    public String problem() {
        return "SyncGuard needs " + feature + " of JDBC, which a connection of the class " + type + " lacks";
    }

    @Override
    public List<String> nextSteps() {
        return List.of(
                "Implement it in that class, or let unwrap of that class lead to the driver's connection",
                "Mark a DataSource bean that gives other connections with @SyncGuardDataSource");
    }
}
