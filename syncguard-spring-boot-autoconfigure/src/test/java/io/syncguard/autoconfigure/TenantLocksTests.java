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
import io.syncguard.testing.PostgresServer;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.transaction.annotation.Transactional;

/** Tenants with databases of their own behind one DataSource: each has its locks there. */
@Timeout(120)
class TenantLocksTests {

    private static final String NORTH = PostgresServer.newDatabaseUrl();
    private static final String SOUTH = PostgresServer.newDatabaseUrl();

    private final ApplicationContextRunner runner = Applications.withoutDatabase()
            .withPropertyValues("syncguard.postgres.pool-size=1")
            .withUserConfiguration(Tenants.class);

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
            PostgresLockManagers managers = context.getBean(PostgresLockManagers.class);
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
        runner.withPropertyValues("syncguard.shutdown-timeout=0s")
                .run(context -> held.set(Tenant.as(
                        "north", () -> context.getBean(LockManager.class).acquire(LockRequest.of("order:42")))));

        assertThat(held.get().isHeld()).isFalse();
        assertThat(lockedKeys(NORTH)).isEmpty();
    }

    private static long fence(LockManager locks) {
        try (LockHandle lock = locks.acquire(LockRequest.of("invoice"))) {
            return lock.fence().value();
        }
    }

    private static Map<String, ?> endpoint(SyncGuardEndpoint endpoint) {
        return endpoint.locks(null, null, null, null, null).managers();
    }

    private static List<String> lockedKeys(String url) {
        return new JdbcTemplate(PostgresServer.dataSource(url))
                .queryForList("SELECT key FROM syncguard_locks", String.class);
    }

    /** The tenant for which a thread works. */
    static final class Tenant {

        private static final ThreadLocal<String> CURRENT = new ThreadLocal<>();

        static String current() {
            return CURRENT.get();
        }

        static <T> T as(String tenant, Callable<T> work) throws Exception {
            String before = CURRENT.get();
            CURRENT.set(tenant);
            try {
                return work.call();
            } finally {
                CURRENT.set(before);
            }
        }
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
        LockManager lockManager(PostgresLockManagers managers) {
            tenants.forEach(managers::create);
            return LockManager.routing(() -> managers.get(Tenant.current()));
        }
        // end

        @Bean
        SyncGuardEndpoint endpoint(ListableBeanFactory beans) {
            return new SyncGuardEndpoint(LockEngines.of(beans), () -> null, new EventJournal(), Show.ALWAYS);
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
