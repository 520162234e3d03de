package io.syncguard.autoconfigure;

import io.syncguard.LockLimits;
import io.syncguard.LockManager;
import io.syncguard.LockMode;
import io.syncguard.aop.AnnotatedLock;
import io.syncguard.aop.DistributedLockAdvisor;
import io.syncguard.aop.LockManagerResolver;
import io.syncguard.core.LockEngine;
import io.syncguard.leader.LeaderListener;
import io.syncguard.leader.LeaderMember;
import io.syncguard.micrometer.LockMeters;
import io.syncguard.micrometer.StoreMeters;
import java.util.Collection;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/**
 * Makes the meters of the stores, and of the locks that annotations, settings and elections name, before their first
 * grant: an alarm sees no first loss of a name whose counter appears with it. Thread-safe.
 */
final class PreparedMeters implements SmartInitializingSingleton, LeaderListener, DisposableBean {

    private static final Log log = LogFactory.getLog(PreparedMeters.class);

    private final LockMeters meters;
    private final StoreMeters stores;
    private final ConfigurableListableBeanFactory beans;
    private final ObjectProvider<DistributedLockAdvisor> advisors;
    private final ObjectProvider<LocksProperties> settings;

    /** The live engines of this context. Written and read by the thread that starts or stops the application. */
    private Supplier<Collection<LockEngine>> engines = Set::of;

    PreparedMeters(
            LockMeters meters,
            StoreMeters stores,
            ConfigurableListableBeanFactory beans,
            ObjectProvider<DistributedLockAdvisor> advisors,
            ObjectProvider<LocksProperties> settings) {
        this.meters = meters;
        this.stores = stores;
        this.beans = beans;
        this.advisors = advisors;
        this.settings = settings;
    }

    @Override
    public void afterSingletonsInstantiated() {
        Collection<LockEngine> current = LockEngines.of(beans).values();
        engines = () -> current;
        stores.add(engines);
        Set<AnnotatedLock> locks =
                advisors.orderedStream().flatMap(each -> each.locks().stream()).collect(Collectors.toSet());
        // The advisor knows those of the beans that exist.
        locks.addAll(LocksOfTypes.in(beans, bean -> !beans.containsSingleton(bean)));
        Set<String> annotated = locks.stream().map(AnnotatedLock::name).collect(Collectors.toSet());
        settings.ifAvailable(all -> all.settings().forEach((name, own) -> {
            if (!annotated.contains(name)) {
                int permits = own.permits() == null ? 0 : own.permits();
                locks.add(new AnnotatedLock(name, permits > 0 ? LockMode.SHARED : LockMode.EXCLUSIVE, permits, ""));
            }
        }));
        if (beans.containsBean(SyncGuardIntegrationAutoConfiguration.REGISTRY_BEAN)) {
            locks.add(new AnnotatedLock(SyncGuardIntegrationAutoConfiguration.REGISTRY, LockMode.EXCLUSIVE, 0, ""));
        }
        locks.forEach(this::prepare);
    }

    @Override
    public void destroy() {
        stores.remove(engines);
    }

    /** Its lock is granted to this process perhaps days later. */
    @Override
    public void joined(LeaderMember member) {
        prepare(new AnnotatedLock(LockLimits.ELECTION_PREFIX + member.name(), LockMode.EXCLUSIVE, 0, ""));
    }

    private void prepare(AnnotatedLock lock) {
        backends(lock).forEach(backend -> meters.prepare(lock.name(), lock.mode(), lock.permits(), backend));
    }

    /** The name of the store of its manager. A manager that routes may lead to each of the stores. */
    private Set<String> backends(AnnotatedLock lock) {
        try {
            LockManager manager = lock.manager().isEmpty()
                    ? beans.getBean(LockManager.class)
                    : new LockManagerResolver(beans).manager(lock.manager()).get();
            if (manager.current() instanceof LockEngine engine) {
                return Set.of(engine.admin().backend().name());
            }
        } catch (RuntimeException ex) {
            log.debug("The store of lock '" + lock.name() + "' is not known before its first call", ex);
        }
        return LockEngines.of(beans).values().stream()
                .map(engine -> engine.admin().backend().name())
                .collect(Collectors.toSet());
    }
}
