package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.CurrentLocks;
import io.syncguard.DistributedLock;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.LockSetupException;
import io.syncguard.LockTemplate;
import io.syncguard.actuate.EventJournal;
import io.syncguard.actuate.SyncGuardEndpoint;
import io.syncguard.reactive.ReactiveLockTemplate;
import io.syncguard.testing.PostgresServer;
import io.syncguard.testing.Tenant;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.transaction.annotation.Transactional;
import reactor.core.publisher.Mono;

/** Tenants with databases of their own behind one DataSource: each has its locks there. */
@Tag("verification")
@Timeout(120)
class TenantLocksTests {

    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final LockRequest BOOKS = LockRequest.of("books").waitTime(Duration.ofMinutes(1));

    /** Callers of each kind of lock, in each tenant. */
    private static final int CALLERS = 30;

    private static final String NORTH = PostgresServer.newDatabaseUrl();
    private static final String SOUTH = PostgresServer.newDatabaseUrl();

    private final ApplicationContextRunner runner = Applications.withoutDatabase()
            .withPropertyValues("syncguard.postgres.pool-size=1", "syncguard.shutdown-timeout=0s")
            .withBean(Books.class)
            .withUserConfiguration(Tenants.class);

    private final ApplicationContextRunner withDefault = Applications.withoutDatabase()
            .withPropertyValues("syncguard.postgres.pool-size=4", "syncguard.postgres.network-timeout=30s")
            .withBean(Books.class)
            .withUserConfiguration(TenantsWithDefault.class);

    private final ExecutorService threads = Executors.newFixedThreadPool(8);

    @AfterEach
    void endThreads() {
        threads.shutdownNow();
    }

    @Test
    void two_tenants_lock_one_key_at_the_same_time() {
        runner.run(context -> {
            assertThat(context).hasNotFailed();
            LockManager locks = context.getBean(LockManager.class);
            Invoices invoices = context.getBean(Invoices.class);

            Tenant.as(
                    "north",
                    () -> invoices.number(() -> Tenant.as(
                            "south",
                            () -> invoices.number(() -> {
                                assertThat(CurrentLocks.innermostFirst())
                                        .extracting(LockHandle::key)
                                        .containsExactly("invoice", "invoice");
                                return null;
                            }))));

            assertThat(Tenant.as("north", () -> fence(locks))).isEqualTo(2);
            assertThat(Tenant.as("south", () -> fence(locks))).isEqualTo(2);
        });
    }

    @Test
    void the_locks_of_a_tenant_are_in_its_database() {
        runner.run(context -> {
            LockTemplate locks = context.getBean(LockTemplate.class);

            Tenant.as(
                    "north",
                    () -> locks.execute("in north", lock -> {
                        assertThat(lockedKeys(NORTH)).containsExactly("in north");
                        assertThat(lockedKeys(SOUTH)).isEmpty();
                        return null;
                    }));
        });
    }

    @Test
    void a_lock_lasts_until_the_transaction_of_its_tenant_has_ended() {
        runner.run(context -> {
            Ledger ledger = context.getBean(Ledger.class);

            assertThat(Tenant.as("south", ledger::keysAtEnd)).isEqualTo("ledger");
            assertThat(lockedKeys(SOUTH)).isEmpty();
        });
    }

    @Test
    void a_caller_without_a_tenant_is_told_so() {
        runner.run(context -> assertThatThrownBy(() -> Tenant.as(
                        "west", () -> context.getBean(LockTemplate.class).execute("order:42", lock -> null)))
                .isInstanceOf(LockException.class)
                .hasMessageContaining("no lock manager 'west', only [north, south]"));
    }

    @Test
    void a_tenant_may_come_and_go_while_the_application_runs() {
        runner.run(context -> {
            JdbcLockManagers managers = context.getBean(JdbcLockManagers.class);
            String url = PostgresServer.newDatabaseUrl();

            LockManager west = managers.create("west", PostgresServer.dataSource(url));
            assertThat(managers.get("west")).isSameAs(west);
            assertThatThrownBy(() -> managers.create("west", PostgresServer.dataSource(url)))
                    .isInstanceOf(LockSetupException.class)
                    .hasMessageContaining("'west'");
            LockHandle held = west.acquire(LockRequest.of("order:42"));
            assertThat(endpoint(context.getBean(SyncGuardEndpoint.class))).containsKeys("north", "south", "west");

            managers.remove("west");
            assertThat(lockedKeys(url)).as("its locks are released").isEmpty();
            assertThat(held.isHeld()).isFalse();
            assertThatThrownBy(() -> managers.get("west")).isInstanceOf(LockException.class);
            assertThat(endpoint(context.getBean(SyncGuardEndpoint.class))).containsOnlyKeys("north", "south");
        });
    }

    @Test
    void the_locks_of_all_tenants_are_released_when_the_application_stops() {
        AtomicReference<LockHandle> held = new AtomicReference<>();
        runner.run(context -> held.set(
                Tenant.as("north", () -> context.getBean(LockManager.class).acquire(LockRequest.of("order:42")))));

        assertThat(held.get().isHeld()).isFalse();
        assertThat(lockedKeys(NORTH)).isEmpty();
    }

    @Test
    void a_caller_without_any_tenant_is_told_so_too() {
        runner.run(context -> {
            assertThatThrownBy(() -> context.getBean(LockTemplate.class).execute("order:42", lock -> null))
                    .isInstanceOf(LockException.class)
                    .hasMessageContaining("name of a lock manager must not be null");
            assertThatThrownBy(() -> context.getBean(Books.class).entry("1").block(LIMIT))
                    .isInstanceOf(LockException.class)
                    .hasMessageContaining("name of a lock manager must not be null");
        });
    }

    @Test
    void reactive_and_blocking_callers_of_a_tenant_exclude_each_other() {
        withDefault.run(context -> {
            LockTemplate blocking = context.getBean(LockTemplate.class);
            ReactiveLockTemplate reactive = context.getBean(ReactiveLockTemplate.class);
            Books books = context.getBean(Books.class);
            List<CompletableFuture<?>> callers = new ArrayList<>();
            for (int i = 0; i < CALLERS; i++) {
                for (String tenant : List.of("north", "south")) {
                    callers.add(CompletableFuture.supplyAsync(
                            () -> as(tenant, () -> blocking.execute(BOOKS, lock -> books.write(tenant))), threads));
                    callers.add(as(
                            tenant,
                            () -> reactive.mono(BOOKS, lock -> books.writeLater(tenant))
                                    .toFuture()));
                    callers.add(as(tenant, () -> books.locked(tenant).toFuture()));
                }
            }

            CompletableFuture.allOf(callers.toArray(CompletableFuture[]::new)).get(60, TimeUnit.SECONDS);

            assertThat(books.overlaps()).isZero();
            for (String tenant : List.of("north", "south")) {
                assertThat(as(tenant, () -> fenceOf("books", context.getBean(LockManager.class))))
                        .isEqualTo(3 * CALLERS + 1);
            }
        });
    }

    @Test
    void several_keys_of_a_publisher_and_what_its_body_locks_are_in_one_database() {
        withDefault.run(context -> {
            Books books = context.getBean(Books.class);

            String keys = as(
                    "south",
                    () -> books.transfer(List.of("b", "a", "c"), books.entry("nested"))
                            .block(LIMIT));

            assertThat(keys).isEqualTo("account:a, account:b, account:c, entry:nested");
            assertThat(fencesOf(NORTH, "account:%") + fencesOf(NORTH, "entry:nested"))
                    .isZero();
        });
    }

    @Test
    void all_keys_of_a_call_are_in_the_store_of_the_first_one() {
        withDefault.run(context -> {
            Books books = context.getBean(Books.class);
            AtomicInteger asked = context.getBean(AtomicInteger.class);
            asked.set(0);

            as("south", () -> books.transferNow(List.of("x", "y")));

            assertThat(asked).hasValue(1);
        });
    }

    @Test
    void a_fallback_locks_in_the_database_of_the_refused_caller() {
        withDefault.run(context -> {
            Books books = context.getBean(Books.class);
            LockManager south = context.getBean(JdbcLockManagers.class).get("south");

            try (LockHandle other = south.acquire(LockRequest.of("refused"))) {
                assertThat(other.isHeld()).isTrue();
                assertThat(as("south", () -> books.refused("later").block(LIMIT)))
                        .isEqualTo("entry:later");
            }
            assertThat(fencesOf(NORTH, "entry:later")).isZero();
        });
    }

    @Test
    void a_call_whose_condition_is_false_needs_no_tenant() {
        runner.run(context -> {
            assertThat(context.getBean(Books.class).unlocked(false).block(LIMIT))
                    .isEqualTo("ran");
        });
    }

    private static <T> T as(String tenant, Callable<T> work) {
        try {
            return Tenant.as(tenant, work);
        } catch (Exception ex) {
            throw new IllegalStateException(ex);
        }
    }

    private static long fencesOf(String url, String keys) {
        return new JdbcTemplate(PostgresServer.dataSource(url))
                .queryForObject(
                        "SELECT count(*) FROM syncguard_fence_counters WHERE fence_key LIKE '%' || ?",
                        Long.class, keys);
    }

    private static long fenceOf(String key, LockManager locks) {
        try (LockHandle lock = locks.acquire(LockRequest.of(key))) {
            return lock.fence().value();
        }
    }

    private static long fence(LockManager locks) {
        try (LockHandle lock = locks.acquire(LockRequest.of("invoice"))) {
            return lock.fence().value();
        }
    }

    private static Map<String, ?> endpoint(SyncGuardEndpoint endpoint) {
        return endpoint.locks(null, null, null, null, null, null, null, null, null)
                .managers();
    }

    private static List<String> lockedKeys(String url) {
        return new JdbcTemplate(PostgresServer.dataSource(url))
                .queryForList("SELECT key FROM syncguard_locks", String.class);
    }

    @Configuration(proxyBeanMethods = false)
    static class Tenants {

        private final Map<String, DataSource> tenants =
                Map.of("north", PostgresServer.dataSource(NORTH), "south", PostgresServer.dataSource(SOUTH));

        @Bean
        DataSource dataSource() {
            AbstractRoutingDataSource routing = new AbstractRoutingDataSource() {
                @Override
                protected Object determineCurrentLookupKey() {
                    return Tenant.current();
                }
            };
            routing.setTargetDataSources(Map.copyOf(tenants));
            return routing;
        }

        // sample: tenants
        @Bean
        LockManager lockManager(JdbcLockManagers managers) {
            tenants.forEach(managers::create);
            return LockManager.routing(() -> managers.get(Tenant.current()));
        }
        // end

        @Bean
        SyncGuardEndpoint endpoint(ListableBeanFactory beans) {
            return new SyncGuardEndpoint(
                    LockEngines.of(beans), () -> null, new EventJournal(), Map::of, Show.ALWAYS, null);
        }

        @Bean
        Invoices invoices() {
            return new Invoices();
        }

        @Bean
        Ledger ledger(JdbcTemplate jdbc) {
            return new Ledger(jdbc);
        }
    }

    /** Threads without a tenant work in the north, as the guide permits. */
    @Configuration(proxyBeanMethods = false)
    static class TenantsWithDefault {

        @Bean
        DataSource dataSource() {
            return PostgresServer.dataSource(NORTH);
        }

        @Bean
        AtomicInteger asked() {
            return new AtomicInteger();
        }

        @Bean
        LockManager lockManager(JdbcLockManagers managers, AtomicInteger asked) {
            managers.create("north", PostgresServer.dataSource(NORTH));
            managers.create("south", PostgresServer.dataSource(SOUTH));
            return LockManager.routing(() -> {
                asked.incrementAndGet();
                String tenant = Tenant.current();
                return managers.get(tenant == null ? "north" : tenant);
            });
        }
    }

    static class Books {

        private final ObjectProvider<Books> self;
        private final Map<String, AtomicInteger> inside = new ConcurrentHashMap<>();
        private final AtomicInteger overlaps = new AtomicInteger();

        Books(ObjectProvider<Books> self) {
            this.self = self;
        }

        @DistributedLock(name = "books", waitTime = "60s")
        public Mono<String> locked(String tenant) {
            return writeLater(tenant);
        }

        @DistributedLock(name = "entry", key = "#id")
        public Mono<String> entry(String id) {
            return Mono.just("entry:" + id);
        }

        @DistributedLock(name = "account", key = "#ids")
        public Mono<String> transfer(List<String> ids, Mono<String> entry) {
            return Mono.zip(
                            Mono.fromSupplier(() -> String.join(", ", lockedKeys(SOUTH))),
                            Mono.delay(Duration.ofMillis(1)).then(entry))
                    .map(both -> both.getT1() + ", " + both.getT2());
        }

        @DistributedLock(name = "account", key = "#ids")
        public String transferNow(List<String> ids) {
            return "done";
        }

        @DistributedLock(name = "refused", waitTime = "0s", fallback = "later")
        public Mono<String> refused(String id) {
            return Mono.error(new AssertionError(id));
        }

        Mono<String> later(String id) {
            return self.getObject().entry(id);
        }

        @DistributedLock(name = "unlocked", condition = "#lock")
        public Mono<String> unlocked(boolean lock) {
            return Mono.just("ran");
        }

        Mono<String> writeLater(String tenant) {
            return Mono.defer(() -> {
                enter(tenant);
                return Mono.delay(Duration.ofMillis(1)).map(done -> leave(tenant));
            });
        }

        int overlaps() {
            return overlaps.get();
        }

        String write(String tenant) {
            enter(tenant);
            Thread.yield();
            return leave(tenant);
        }

        private void enter(String tenant) {
            if (inside.computeIfAbsent(tenant, first -> new AtomicInteger()).incrementAndGet() > 1) {
                overlaps.incrementAndGet();
            }
        }

        private String leave(String tenant) {
            inside.get(tenant).decrementAndGet();
            return tenant;
        }
    }

    static class Invoices {

        @DistributedLock("invoice")
        public <T> T number(Callable<T> body) throws Exception {
            return body.call();
        }
    }

    static class Ledger {

        private final JdbcTemplate jdbc;

        Ledger(JdbcTemplate jdbc) {
            this.jdbc = jdbc;
        }

        @Transactional
        @DistributedLock("ledger")
        public String keysAtEnd() {
            return String.join(",", jdbc.queryForList("SELECT key FROM syncguard_locks", String.class));
        }
    }
}
