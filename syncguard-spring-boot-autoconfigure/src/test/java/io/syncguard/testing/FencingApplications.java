package io.syncguard.testing;

import io.syncguard.autoconfigure.SyncGuardAutoConfiguration;
import io.syncguard.autoconfigure.SyncGuardFencingAutoConfiguration;
import io.syncguard.autoconfigure.SyncGuardWebAutoConfiguration;
import io.syncguard.memory.InMemoryLockBackend;
import io.syncguard.spi.LockBackend;
import java.util.UUID;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;

/** Web applications with locks in memory, and with a {@code FenceGuard} on a new H2 database. */
public final class FencingApplications {

    private FencingApplications() {}

    public static WebApplicationContextRunner runner() {
        return new WebApplicationContextRunner()
                .withConfiguration(SortedAutoConfigurations.of(
                        AopAutoConfiguration.class,
                        DataSourceAutoConfiguration.class,
                        DataSourceTransactionManagerAutoConfiguration.class,
                        TransactionAutoConfiguration.class,
                        JdbcTemplateAutoConfiguration.class,
                        SyncGuardAutoConfiguration.class,
                        SyncGuardFencingAutoConfiguration.class,
                        SyncGuardWebAutoConfiguration.class))
                .withBean(LockBackend.class, InMemoryLockBackend::new)
                .withPropertyValues(
                        "syncguard.fencing.enabled=true",
                        "spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
    }
}
