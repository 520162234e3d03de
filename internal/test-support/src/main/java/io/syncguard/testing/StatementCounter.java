package io.syncguard.testing;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/** Records the statements that its connections prepare or create. */
public final class StatementCounter extends DelegatingDataSource {

    private final List<String> statements = new CopyOnWriteArrayList<>();
    private final Consumer<String> onStatement;

    /** @param onStatement receives the text of each statement before it is created */
    public StatementCounter(DataSource target, Consumer<String> onStatement) {
        super(target);
        this.onStatement = onStatement;
    }

    public List<String> statements() {
        return List.copyOf(statements);
    }

    @Override
    public Connection getConnection() throws SQLException {
        Connection connection = super.getConnection();
        return (Connection) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("prepareStatement")
                            || method.getName().equals("createStatement")) {
                        String statement = arguments == null ? "a statement" : arguments[0].toString();
                        onStatement.accept(statement);
                        statements.add(statement);
                    }
                    try {
                        return method.invoke(connection, arguments);
                    } catch (InvocationTargetException ex) {
                        throw ex.getCause();
                    }
                });
    }
}
