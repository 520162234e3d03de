package io.syncguard.autoconfigure;

import io.syncguard.LockManager;
import io.syncguard.shedlock.SyncGuardLockProvider;
import net.javacrumbs.shedlock.core.ExtensibleLockProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/**
 * ShedLock's {@code @SchedulerLock} methods run on the locks of the primary lock manager. A {@code LockProvider} of the
 * application stays: ShedLock then asks which of them to use, instead of using one silently.
 */
@AutoConfiguration(after = {SyncGuardAutoConfiguration.class, SyncGuardDisabledAutoConfiguration.class})
@ConditionalOnClass(ExtensibleLockProvider.class)
@ConditionalOnBooleanProperty(name = "syncguard.shedlock.enabled")
public final class SyncGuardShedLockAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean
    SyncGuardLockProvider syncGuardLockProvider(LockManager lockManager) {
        return new SyncGuardLockProvider(lockManager);
    }
}
