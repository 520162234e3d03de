package io.syncguard.autoconfigure;

import io.syncguard.LockSetupException;
import io.syncguard.concurrent.Chain;
import java.net.SocketTimeoutException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.sql.SQLTransientConnectionException;
import javax.sql.DataSource;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * A database that answers late at the start, such as one that has to resume, or whose first host is dark. The
 * application's own pool has more patience than a lock operation, so the start asks that one to wait.
 */
final class LateDatabase {

    private static final Log log = LogFactory.getLog(LateDatabase.class);

    /** HikariCP waits as long for a connection unless it is configured. */
    private static final int LONGEST_ANSWER_SECONDS = 30;

    private LateDatabase() {}

    /**
     * Sets the store up. If nobody answers in time, waits for the application's own connection, and tries once more.
     *
     * @throws LockSetupException as the set-up does
     */
    static void setUp(DataSource application, Runnable setUp) {
        try {
            setUp.run();
        } catch (LockSetupException ex) {
            if (!isLate(ex) || !answers(application, ex)) {
                throw ex;
            }
            setUp.run();
        }
    }

    /** Whether no answer has arrived, not even a refusal. */
    private static boolean isLate(LockSetupException failure) {
        return Chain.causes(failure)
                .anyMatch(cause -> cause instanceof SocketTimeoutException
                        || cause instanceof SQLTimeoutException
                        || cause instanceof SQLTransientConnectionException && cause.getCause() == null);
    }

    private static boolean answers(DataSource application, LockSetupException failure) {
        log.info(
                "The database of the locks has not answered yet: waiting as long as the DataSource of the application");
        try (Connection connection = application.getConnection()) {
            return connection.isValid(LONGEST_ANSWER_SECONDS);
        } catch (SQLException | RuntimeException | AbstractMethodError ex) {
            failure.addSuppressed(ex);
            return false;
        }
    }
}
