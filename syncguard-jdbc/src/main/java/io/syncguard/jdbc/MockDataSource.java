package io.syncguard.jdbc;

import io.syncguard.LockSetupException;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/** Refuses the mock of a {@code DataSource}, which a test has instead of a database. */
public final class MockDataSource {

    private static final Log log = LogFactory.getLog(MockDataSource.class);

    /** What an application without a real store may do. */
    public static final String WITHOUT_A_STORE =
            "In a test: add syncguard-spring-boot-starter-test and @AutoConfigureTestLocks. Without any locks: set"
                    + " syncguard.enabled=false";

    private MockDataSource() {}

    /** @throws LockSetupException if it is a mock */
    public static void refuse(DataSource dataSource) {
        try (Connection connection = dataSource.getConnection()) {
            refuse(connection);
        } catch (LockSetupException ex) {
            throw ex;
        } catch (SQLException | RuntimeException ex) {
            log.debug("The DataSource gave no connection", ex);
        }
    }

    /** @throws LockSetupException if a mock gave the connection */
    static void refuse(@Nullable Connection connection) throws SQLException {
        if (connection == null || !hasDetails(CompleteConnection.of(connection))) {
            throw LockSetupException.invalid(
                    "The DataSource returned null instead of a connection or of its details, as a mock does",
                    WITHOUT_A_STORE,
                    "Use a real DataSource");
        }
    }

    private static boolean hasDetails(Connection connection) throws SQLException {
        try {
            return connection.getMetaData() != null && connection.getMetaData().getDatabaseProductName() != null;
        } catch (MissingFeatureException ex) {
            return true;
        }
    }
}
