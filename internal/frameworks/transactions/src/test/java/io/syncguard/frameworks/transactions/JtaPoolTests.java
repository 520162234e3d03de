package io.syncguard.frameworks.transactions;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.arjuna.ats.internal.jta.transaction.arjunacore.TransactionSynchronizationRegistryImple;
import com.arjuna.ats.jta.TransactionManager;
import com.arjuna.ats.jta.UserTransaction;
import io.agroal.api.AgroalDataSource;
import io.agroal.api.configuration.supplier.AgroalDataSourceConfigurationSupplier;
import io.agroal.narayana.NarayanaTransactionIntegration;
import io.syncguard.CommitGuard;
import io.syncguard.LockException;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.autoconfigure.JdbcLockManagers;
import io.syncguard.testing.PostgresServer;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.postgresql.xa.PGXADataSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.transaction.jta.JtaTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Pools of JTA that cannot serve locks, or whose transactions locks cannot guard. */
class JtaPoolTests {

    @Test
    void a_lock_that_cannot_use_its_connection_names_the_way_out() {
        try (ConfigurableApplicationContext application = new SpringApplicationBuilder(Opaque.class)
                .web(WebApplicationType.NONE)
                .run()) {
            TransactionTemplate transaction = new TransactionTemplate(application.getBean(JtaTransactionManager.class));
            LockTemplate locks = application.getBean(LockTemplate.class);
            locks.executeWithoutResult("order:1", lock -> {});
            assertThatThrownBy(() -> transaction.executeWithoutResult(
                            status -> locks.executeWithoutResult("order:1", lock -> {})))
                    .hasMessageContaining("@SyncGuardDataSource");
        }
    }

    @Test
    void required_is_refused_before_the_begin_if_no_pool_leads_to_the_database_of_the_locks() {
        try (ConfigurableApplicationContext application = new SpringApplicationBuilder(Opaque.class, Elsewhere.class)
                .web(WebApplicationType.NONE)
                .run()) {
            TransactionTemplate transaction = new TransactionTemplate(application.getBean(JtaTransactionManager.class));
            AtomicBoolean began = new AtomicBoolean();
            assertThatThrownBy(() -> application
                            .getBean(LockTemplate.class)
                            .executeWithoutResult(
                                    LockRequest.of("order:1").commitGuard(CommitGuard.REQUIRED),
                                    lock -> transaction.executeWithoutResult(status -> began.set(true))))
                    .isInstanceOf(LockException.class)
                    .hasMessageContaining("another database than that of the locks");
            assertThat(began).isFalse();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Opaque {

        @Bean
        DataSource shop() throws SQLException {
            return new Wrapper(AgroalDataSource.from(new AgroalDataSourceConfigurationSupplier()
                    .connectionPoolConfiguration(pool -> pool.maxSize(10)
                            .transactionIntegration(new NarayanaTransactionIntegration(
                                    TransactionManager.transactionManager(),
                                    new TransactionSynchronizationRegistryImple()))
                            .connectionFactoryConfiguration(factory -> factory.jdbcUrl(PostgresServer.newDatabaseUrl())
                                    .connectionProviderClass(PGXADataSource.class)))));
        }

        @Bean
        JtaTransactionManager transactionManager() {
            return new JtaTransactionManager(
                    UserTransaction.userTransaction(), TransactionManager.transactionManager());
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Elsewhere {

        @Bean
        LockManager lockManager(JdbcLockManagers managers) {
            return managers.create("elsewhere", PostgresServer.newDatabase());
        }
    }

    private static final class Wrapper extends DelegatingDataSource {

        Wrapper(DataSource target) {
            super(target);
        }
    }
}
