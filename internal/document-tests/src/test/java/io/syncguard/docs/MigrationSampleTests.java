package io.syncguard.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.syncguard.Fence;
import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.integration.SyncGuardLockRegistry;
import io.syncguard.scheduling.ScheduledLock;
import io.syncguard.shedlock.SyncGuardLockProvider;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import java.util.stream.Stream;
import net.javacrumbs.shedlock.core.ClockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockExtender;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import net.javacrumbs.shedlock.spring.annotation.EnableSchedulerLock;
import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.integration.support.locks.DefaultLockRegistry;
import org.springframework.integration.support.locks.LockRegistry;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.scheduling.annotation.Scheduled;

/** The code of docs/migration.md, compiled and run by two instances. */
@Timeout(60)
class MigrationSampleTests {

    private static final String SHEDLOCK_TABLE = "CREATE TABLE shedlock (name VARCHAR(64) PRIMARY KEY,"
            + " lock_until TIMESTAMP NOT NULL, locked_at TIMESTAMP NOT NULL, locked_by VARCHAR(255) NOT NULL)";

    private final RecipeInstances instances = new RecipeInstances(
            Application.class, SHEDLOCK_TABLE, "syncguard.shedlock.enabled=true", "syncguard.integration.enabled=true");

    @Test
    void a_job_with_the_old_annotation_and_one_with_the_new_annotation_exclude_each_other() {
        instances.run((one, two) -> {
            Work work = one.getBean(Work.class);
            work.during = () -> two.getBean(NewJob.class).run();
            one.getBean(OldJob.class).run();
            assertThat(work.runs).hasValue(1);
            assertThat(two.getBean(Work.class).runs).as("at the same time").hasValue(0);

            two.getBean(NewJob.class).run();
            assertThat(two.getBean(Work.class).runs).as("within lockAtLeastFor").hasValue(0);
        });
    }

    @Test
    void both_providers_exclude_version_one_and_version_three() {
        instances.run((one, two) -> {
            JdbcTemplateLockProvider before = lockProvider(instances.database);
            SyncGuardLockProvider after = two.getBean(SyncGuardLockProvider.class);
            LockProvider between = new BothProviders(before, after);

            SimpleLock both = between.lock(report()).orElseThrow();
            assertThat(before.lock(report())).isEmpty();
            assertThat(after.lock(report())).isEmpty();
            both.unlock();

            for (LockProvider other : List.of(before, after)) {
                SimpleLock alone = other.lock(report()).orElseThrow();
                assertThat(between.lock(report())).isEmpty();
                alone.unlock();
                between.lock(report()).orElseThrow().unlock();
            }
        });
    }

    @Test
    void a_job_that_extends_its_lock_runs_under_both_providers() {
        new RecipeInstances(VersionTwo.class, SHEDLOCK_TABLE, "syncguard.shedlock.enabled=true").run((one, two) -> {
            Work work = one.getBean(Work.class);
            JdbcTemplateLockProvider before = lockProvider(one.getBean(JdbcTemplate.class));
            SyncGuardLockProvider after = two.getBean(SyncGuardLockProvider.class);
            List<LockProvider> others = List.of(before, after);
            work.during = () ->
                    assertThat(others).allMatch(other -> other.lock(export()).isEmpty());

            one.getBean(ExtendingJob.class).run();

            assertThat(work.runs).hasValue(1);
            assertThat(others)
                    .allSatisfy(other -> other.lock(export()).orElseThrow().unlock());
        });
    }

    @Test
    void both_locks_are_back_after_an_extension_that_the_second_store_refuses() {
        instances.run((one, two) -> {
            JdbcTemplateLockProvider before = lockProvider(instances.database);
            LockProvider between = new BothProviders(before, two.getBean(SyncGuardLockProvider.class));
            SimpleLock both = between.lock(report()).orElseThrow();
            instances.endLease("report");

            assertThat(both.extend(Duration.ofMinutes(2), Duration.ZERO)).isEmpty();
            before.lock(report()).orElseThrow().unlock();
        });
    }

    @Test
    void both_locks_exclude_version_one_and_version_three() {
        instances.run((one, two) -> {
            LockRegistry<?> before = new DefaultLockRegistry();
            LockRegistry<?> after = two.getBean(LockRegistry.class);
            LockRegistry<?> between = bothRegistries(before, after);
            List<Way> ways = List.of(
                    lock -> {
                        lock.lock();
                        return true;
                    },
                    lock -> {
                        lock.lockInterruptibly();
                        return true;
                    },
                    Lock::tryLock,
                    lock -> lock.tryLock(1, TimeUnit.SECONDS));

            for (Way way : ways) {
                Lock both = between.obtain("42");
                assertThat(way.on(both)).isTrue();
                assertThat(isTakenForOthers(before)).isTrue();
                assertThat(isTakenForOthers(after)).isTrue();
                both.unlock();
                assertThat(isTakenForOthers(between)).isFalse();
            }
            Lock alone = after.obtain("42");
            alone.lock();
            assertThat(isTakenForOthers(between)).isTrue();
            assertThat(isTakenForOthers(before)).as("left behind").isFalse();
            alone.unlock();
        });
    }

    @Test
    void the_primary_registry_of_version_two_takes_both_locks() {
        new RecipeInstances(VersionTwoOfRegistry.class, SHEDLOCK_TABLE, "syncguard.integration.enabled=true")
                .run((one, two) -> {
                    Lock both = one.getBean(LockRegistry.class).obtain("42");
                    both.lock();
                    assertThat(isTakenForOthers(one.getBean(DefaultLockRegistry.class)))
                            .isTrue();
                    assertThat(isTakenForOthers(two.getBean(SyncGuardLockRegistry.class)))
                            .isTrue();
                    both.unlock();
                });
    }

    @Test
    void a_flow_keeps_its_lines() {
        instances.run((one, two) -> {
            Stock stock = new Stock(one.getBean(LockRegistry.class));
            assertThat(stock.reserve("pen")).isTrue();
            Lock elsewhere = two.getBean(LockRegistry.class).obtain("pen");
            assertThat(elsewhere.tryLock()).isTrue();
            assertThat(stock.reserve("pen")).isFalse();
            elsewhere.unlock();
            assertThat(stock.reservations).isEqualTo(1);
        });
    }

    @Test
    void an_order_is_charged_under_a_lock_with_its_fence() {
        instances.run((one, two) -> {
            ReentrantLock old = new ReentrantLock();
            Orders orders = new Orders(one.getBean(LockTemplate.class), old);
            orders.charge("42");
            assertThat(orders.chargeUnderBoth("42")).isTrue();
            assertThat(orders.fences).hasSize(2).isSorted();

            two.getBean(LockManager.class).acquire(LockRequest.of("order", "42"));
            assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> orders.charge("42"));
            assertThat(orders.chargeUnderBoth("42")).isFalse();
            assertThat(old.isLocked()).isFalse();
        });
    }

    @Test
    void a_partner_is_asked_by_at_most_five_at_a_time() {
        instances.run((one, two) -> {
            Partners partners = new Partners(one.getBean(LockTemplate.class));
            LockManager elsewhere = two.getBean(LockManager.class);
            LockRequest permit = LockRequest.of("partner-api", "acme").permits(5);
            List<LockHandle> four =
                    Stream.generate(() -> elsewhere.acquire(permit)).limit(4).toList();
            partners.during = () -> assertThat(elsewhere.tryAcquire(permit)).isNull();

            assertThat(partners.ask("acme")).isEqualTo("quote of acme");
            four.forEach(LockHandle::release);
        });
    }

    private static boolean isTakenForOthers(LockRegistry<?> registry) throws Exception {
        FutureTask<Boolean> other = new FutureTask<>(() -> {
            Lock lock = registry.obtain("42");
            boolean locked = lock.tryLock();
            if (locked) {
                lock.unlock();
            }
            return !locked;
        });
        new Thread(other).start();
        return other.get(10, TimeUnit.SECONDS);
    }

    private static LockConfiguration report() {
        return new LockConfiguration(ClockProvider.now(), "report", Duration.ofMinutes(1), Duration.ZERO);
    }

    private static LockConfiguration export() {
        return new LockConfiguration(ClockProvider.now(), "export", Duration.ofMinutes(1), Duration.ZERO);
    }

    /** A way to lock. */
    interface Way {
        boolean on(Lock lock) throws InterruptedException;
    }

    static JdbcTemplateLockProvider lockProvider(JdbcTemplate jdbc) {
        return new JdbcTemplateLockProvider(JdbcTemplateLockProvider.Configuration.builder()
                .withJdbcTemplate(jdbc)
                .usingDbTime()
                .build());
    }

    // sample: migration-shedlock-both
    record BothProviders(LockProvider old, LockProvider next) implements LockProvider {

        @Override
        public Optional<SimpleLock> lock(LockConfiguration job) {
            return old.lock(job).flatMap(outer -> BothSimpleLocks.of(outer, () -> next.lock(job)));
        }
    }

    record BothSimpleLocks(SimpleLock outer, SimpleLock inner) implements SimpleLock {

        static Optional<SimpleLock> of(SimpleLock outer, Supplier<Optional<SimpleLock>> next) {
            Optional<SimpleLock> inner = Optional.empty();
            try {
                inner = next.get();
            } finally {
                if (inner.isEmpty()) {
                    outer.unlock();
                }
            }
            return inner.map(lock -> new BothSimpleLocks(outer, lock));
        }

        @Override
        public Optional<SimpleLock> extend(Duration lockAtMostFor, Duration lockAtLeastFor) {
            return outer.extend(lockAtMostFor, lockAtLeastFor)
                    .flatMap(longer -> of(longer, () -> inner.extend(lockAtMostFor, lockAtLeastFor)));
        }

        @Override
        public void unlock() {
            try {
                inner.unlock();
            } finally {
                outer.unlock();
            }
        }
    }
    // end

    // sample: migration-integration-both
    static LockRegistry<?> bothRegistries(LockRegistry<?> old, LockRegistry<?> next) {
        return key -> new BothLocks(old.obtain(key), next.obtain(key));
    }

    record BothLocks(Lock old, Lock next) implements Lock {

        @Override
        public void lock() {
            old.lock();
            andNext(() -> {
                next.lock();
                return true;
            });
        }

        @Override
        public void lockInterruptibly() throws InterruptedException {
            old.lockInterruptibly();
            andNext(() -> {
                next.lockInterruptibly();
                return true;
            });
        }

        @Override
        public boolean tryLock() {
            return old.tryLock() && andNext(next::tryLock);
        }

        @Override
        public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
            return old.tryLock(time, unit) && andNext(() -> next.tryLock(time, unit));
        }

        @Override
        public void unlock() {
            try {
                next.unlock();
            } finally {
                old.unlock();
            }
        }

        @Override
        public Condition newCondition() {
            throw new UnsupportedOperationException();
        }

        private <E extends Exception> boolean andNext(Locking<E> locking) throws E {
            boolean locked = false;
            try {
                locked = locking.lock();
            } finally {
                if (!locked) {
                    old.unlock();
                }
            }
            return locked;
        }

        private interface Locking<E extends Exception> {
            boolean lock() throws E;
        }
    }
    // end

    static class Stock {

        private final LockRegistry<?> registry;
        private int reservations;

        Stock(LockRegistry<?> registry) {
            this.registry = registry;
        }

        boolean reserve(String sku) throws InterruptedException {
            Lock lock = registry.obtain(sku);
            if (!lock.tryLock(100, TimeUnit.MILLISECONDS)) {
                return false;
            }
            try {
                return take(sku);
            } finally {
                lock.unlock();
            }
        }

        private boolean take(String sku) {
            reservations++;
            return !sku.isEmpty();
        }
    }

    static class Orders {

        private final LockTemplate locks;
        private final Lock old;
        private final List<Fence> fences = new ArrayList<>();

        Orders(LockTemplate locks, Lock old) {
            this.locks = locks;
            this.old = old;
        }

        // sample: migration-redisson
        void charge(String orderId) {
            LockRequest request = LockRequest.of("order", orderId).waitTime(Duration.ofMillis(100));
            locks.executeWithoutResult(request, lock -> charge(orderId, lock.fence()));
        }
        // end

        // sample: migration-redisson-both
        boolean chargeUnderBoth(String orderId) throws InterruptedException {
            if (!old.tryLock(100, TimeUnit.MILLISECONDS)) { // RLock old = redisson.getLock("order:" + orderId)
                return false;
            }
            try {
                charge(orderId);
                return true;
            } catch (LockNotAcquiredException ex) {
                return false; // an instance of version 3 has the lock
            } finally {
                old.unlock();
            }
        }
        // end

        private void charge(String orderId, Fence fence) {
            assertThat(orderId).isEqualTo("42");
            fences.add(fence);
        }
    }

    static class Partners {

        private final LockTemplate locks;
        private Runnable during = () -> {};

        Partners(LockTemplate locks) {
            this.locks = locks;
        }

        // sample: migration-redisson-permits
        String ask(String partner) {
            LockRequest request =
                    LockRequest.of("partner-api", partner).permits(5).waitTime(Duration.ofSeconds(10));
            return locks.execute(request, lock -> quote(partner));
        }
        // end

        private String quote(String partner) {
            during.run();
            return "quote of " + partner;
        }
    }

    static class OldJob {

        private final Work work;

        OldJob(Work work) {
            this.work = work;
        }

        // sample: migration-shedlock-old-job
        @Scheduled(cron = "${report.cron:0 0 3 * * *}")
        @SchedulerLock(name = "nightly-report", lockAtMostFor = "2h", lockAtLeastFor = "1m")
        public void run() {
            work.writeReport();
        }
        // end
    }

    static class NewJob {

        private final Work work;

        NewJob(Work work) {
            this.work = work;
        }

        // sample: migration-shedlock-new-job
        @Scheduled(cron = "${report.cron:0 0 3 * * *}", zone = "UTC")
        @ScheduledLock(name = "nightly-report", ttl = "2m", holdAtMost = "2h", holdAtLeast = "1m")
        public void run() {
            work.writeReport();
        }
        // end
    }

    @Configuration(proxyBeanMethods = false)
    @EnableSchedulerLock(defaultLockAtMostFor = "10m")
    static class Application {

        @Bean
        Work work() {
            return new Work();
        }

        @Bean
        OldJob oldJob(Work work) {
            return new OldJob(work);
        }

        @Bean
        NewJob newJob(Work work) {
            return new NewJob(work);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableSchedulerLock(defaultLockAtMostFor = "10m")
    static class VersionTwo {

        @Bean
        Work work() {
            return new Work();
        }

        @Bean
        ExtendingJob extendingJob(Work work) {
            return new ExtendingJob(work);
        }

        // sample: migration-shedlock-beans
        @Bean
        @Primary
        LockProvider bothProviders(JdbcTemplate jdbc, SyncGuardLockProvider next) {
            return new BothProviders(new JdbcTemplateLockProvider(jdbc), next);
        }
        // end
    }

    @Configuration(proxyBeanMethods = false)
    static class VersionTwoOfRegistry {

        @Bean
        DefaultLockRegistry oldLocks() {
            return new DefaultLockRegistry();
        }

        // sample: migration-integration-beans
        @Bean
        @Primary
        LockRegistry<?> bothLockRegistries(
                @Qualifier("oldLocks") LockRegistry<?> oldLocks, SyncGuardLockRegistry next) {
            return bothRegistries(oldLocks, next);
        }
        // end
    }

    static class ExtendingJob {

        private final Work work;

        ExtendingJob(Work work) {
            this.work = work;
        }

        @SchedulerLock(name = "export", lockAtMostFor = "10s")
        public void run() {
            LockExtender.extendActiveLock(Duration.ofMinutes(1), Duration.ZERO);
            work.writeReport();
        }
    }

    /** What the jobs do. */
    static class Work {

        private final AtomicInteger runs = new AtomicInteger();
        private Runnable during = () -> {};

        void writeReport() {
            runs.incrementAndGet();
            during.run();
        }
    }
}
