package io.syncguard.test.autoconfigure;

import io.syncguard.CommitGuard;
import io.syncguard.autoconfigure.JdbcLockAutoConfiguration;
import io.syncguard.autoconfigure.PostgresLockAutoConfiguration;
import io.syncguard.autoconfigure.RedisLockAutoConfiguration;
import io.syncguard.autoconfigure.SyncGuardAutoConfiguration;
import io.syncguard.core.TransactionBoundary;
import io.syncguard.spi.LockBackend;
import io.syncguard.transaction.SpringTransactions;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.Environment;

/**
 * Configures locks in a slice of an application. They are in the store of the application if the slice has that store,
 * else in memory. Slices such as {@code @WebMvcTest} and {@code @JdbcTest} import this class themselves.
 */
@AutoConfiguration(
        after = {
            TestLocksAutoConfiguration.class,
            PostgresLockAutoConfiguration.class,
            JdbcLockAutoConfiguration.class,
            RedisLockAutoConfiguration.class
        },
        before = SyncGuardAutoConfiguration.class)
@ConditionalOnBooleanProperty(name = "syncguard.enabled", matchIfMissing = true)
@Import(SliceLocksRegistrar.class)
public final class SliceLocksAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean(TransactionBoundary.class)
    TransactionBoundary syncGuardSliceTransactions(ObjectProvider<LockBackend> stores, Environment environment) {
        CommitGuard guard = environment.getProperty("syncguard.commit-guard", CommitGuard.class, CommitGuard.AUTO);
        LockBackend store = stores.getIfAvailable();
        return store == null || store.info().name().equals("memory")
                ? new TestTransactions(guard)
                : new SpringTransactions(store.info().name(), store.pins(), guard);
    }

    @Bean
    static OtherDatabasePostProcessor syncGuardOtherDatabasePostProcessor(ConfigurableListableBeanFactory beans) {
        return new OtherDatabasePostProcessor(beans);
    }
}
