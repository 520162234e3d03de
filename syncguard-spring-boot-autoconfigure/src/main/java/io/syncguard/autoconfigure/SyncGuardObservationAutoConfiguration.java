package io.syncguard.autoconfigure;

import io.micrometer.core.instrument.observation.MeterObservationHandler;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import io.syncguard.core.LockObserver;
import io.syncguard.micrometer.LockMeterObservationHandler;
import io.syncguard.micrometer.LockMeters;
import io.syncguard.micrometer.LockObservationConvention;
import io.syncguard.micrometer.LockObservations;
import java.util.stream.Stream;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/**
 * Observations of locks, if the application has a registry for them.
 */
@AutoConfiguration(
        after = SyncGuardMetricsAutoConfiguration.class,
        afterName = {
            "org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration",
            "org.springframework.boot.actuate.autoconfigure.observation.ObservationAutoConfiguration"
        })
@ConditionalOnBooleanProperty(name = "syncguard.enabled", matchIfMissing = true)
@ConditionalOnClass({ObservationRegistry.class, MeterObservationHandler.class})
@ConditionalOnSingleCandidate(ObservationRegistry.class)
public final class SyncGuardObservationAutoConfiguration {

    /**
     * Observes nothing if all handlers make meters, because {@link LockMeters} makes those of locks. Asks for the
     * convention late, because it may need locks.
     */
    @Bean
    @ConditionalOnMissingBean(LockObserver.class)
    LockObservations syncGuardLockObservations(
            ObservationRegistry registry,
            ObjectProvider<LockObservationConvention> convention,
            ListableBeanFactory beans) {
        return new LockObservations(
                haveOnlyMeters(beans) ? ObservationRegistry.NOOP : registry, convention::getIfAvailable);
    }

    /** Asks for types, because a handler may need locks. */
    private static boolean haveOnlyMeters(ListableBeanFactory beans) {
        String[] handlers =
                BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, ObservationHandler.class, true, false);
        return handlers.length > 0
                && Stream.of(handlers).allMatch(name -> beans.isTypeMatch(name, MeterObservationHandler.class));
    }

    /** Comes before Boot's handler, because only the first meter handler that supports a context is called. */
    @Bean
    @Order(Ordered.HIGHEST_PRECEDENCE)
    @ConditionalOnBean(LockMeters.class)
    @ConditionalOnMissingBean
    LockMeterObservationHandler syncGuardLockMeterObservationHandler() {
        return new LockMeterObservationHandler();
    }
}
