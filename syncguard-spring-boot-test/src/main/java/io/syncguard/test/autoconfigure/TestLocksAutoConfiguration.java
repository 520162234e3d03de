package io.syncguard.test.autoconfigure;

import io.syncguard.CommitGuard;
import io.syncguard.autoconfigure.JdbcLockAutoConfiguration;
import io.syncguard.autoconfigure.PostgresLockAutoConfiguration;
import io.syncguard.autoconfigure.RedisLockAutoConfiguration;
import io.syncguard.core.TransactionBoundary;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.Environment;

/**
 * Replaces the backends of the application or its auto-configuration by the in-memory backend, and provides the control
 * of its store. {@link AutoConfigureTestLocks} imports it.
 */
@AutoConfiguration(
        before = {PostgresLockAutoConfiguration.class, JdbcLockAutoConfiguration.class, RedisLockAutoConfiguration.class
        })
@ConditionalOnBooleanProperty(name = "syncguard.enabled", matchIfMissing = true)
@Import(TestLocksRegistrar.class)
public final class TestLocksAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean(TransactionBoundary.class)
    TestTransactions syncGuardTestTransactions(Environment environment) {
        return new TestTransactions(
                environment.getProperty("syncguard.commit-guard", CommitGuard.class, CommitGuard.AUTO));
    }
}
