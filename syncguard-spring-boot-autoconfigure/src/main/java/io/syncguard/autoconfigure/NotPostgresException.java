package io.syncguard.autoconfigure;

import com.zaxxer.hikari.HikariConfigMXBean;
import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.EnumSet;
import java.util.Set;
import javax.sql.DataSource;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.jdbc.DataSourceUnwrapper;

/** The {@link DataSource} that is to keep the locks leads to another product than PostgreSQL. */
final class NotPostgresException extends LockException {

    private static final long serialVersionUID = 1L;

    private static final Log log = LogFactory.getLog(NotPostgresException.class);

    /** There is nobody who could be asked for the product. */
    private static final Set<LockErrorCode> UNREACHABLE =
            EnumSet.of(LockErrorCode.SERVICE_UNAVAILABLE, LockErrorCode.NETWORK_TIMEOUT, LockErrorCode.ABORTED);

    private final String product;

    private NotPostgresException(String product, @Nullable RuntimeException cause) {
        super(
                LockErrorCode.INVALID_ARGUMENT,
                "SyncGuard keeps its locks in PostgreSQL or Redis, but the DataSource leads to " + product
                        + ". See spring.datasource.url, @SyncGuardDataSource, syncguard.backend and syncguard.enabled",
                cause);
        this.product = product;
    }

    String product() {
        return product;
    }

    /**
     * Before Flyway runs the script. A pool whose URL says PostgreSQL is not asked, and a server that cannot be reached
     * now is left to Flyway, which may try again.
     *
     * @throws NotPostgresException where the {@code DataSource} leads to something else
     */
    static void requirePostgres(DataSource dataSource) {
        HikariDataSource pool =
                DataSourceUnwrapper.unwrap(dataSource, HikariConfigMXBean.class, HikariDataSource.class);
        if (pool != null && pool.getJdbcUrl() != null && pool.getJdbcUrl().startsWith("jdbc:postgresql:")) {
            return;
        }
        try (Connection connection = dataSource.getConnection()) {
            requirePostgres(connection, null);
        } catch (SQLException ex) {
            log.debug("Flyway's DataSource could not be asked for its product", ex);
        }
    }

    /**
     * What to throw after the first statement has failed: this, or the failure where the product is PostgreSQL or
     * unknown. Other products refuse the settings of our sessions with errors that say nothing of the reason.
     */
    static RuntimeException explain(RuntimeException failure, DataSource application) {
        if (failure instanceof LockException known && UNREACHABLE.contains(known.code())) {
            return failure;
        }
        try (Connection connection = application.getConnection()) {
            requirePostgres(connection, failure);
        } catch (NotPostgresException ex) {
            return ex;
        } catch (SQLException | RuntimeException ex) {
            failure.addSuppressed(ex);
        }
        return failure;
    }

    private static void requirePostgres(Connection connection, @Nullable RuntimeException failure) throws SQLException {
        String product = connection.getMetaData().getDatabaseProductName();
        if (!product.equals("PostgreSQL")) {
            throw new NotPostgresException(product, failure);
        }
    }
}
