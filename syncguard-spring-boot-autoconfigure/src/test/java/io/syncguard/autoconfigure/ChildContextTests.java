package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.DistributedLock;
import io.syncguard.LockHandle;
import io.syncguard.LockLostException;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.core.LockEngine;
import io.syncguard.leader.LeaderElectedEvent;
import io.syncguard.leader.LeaderElection;
import io.syncguard.leader.LeaderMember;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;

/** A context with parents and children: each ends what is its own, and nothing of the others. */
@Timeout(120)
class ChildContextTests {

    private final TestDatabase database = TestDatabase.withSchema();

    private final ApplicationContextRunner parents = Applications.on(database.url())
            .withPropertyValues(
                    "syncguard.shutdown-timeout=0s", "syncguard.leader.elections.scheduler.fence-rotation=0")
            .withBean(Elected.class);

    @Test
    void a_closed_child_ends_neither_the_locks_nor_the_elections_of_its_parent() {
        parents.run(parent -> {
            LockTemplate locks = parent.getBean(LockTemplate.class);
            LeaderMember member = parent.getBean(LeaderElection.class).member("scheduler");
            await().until(member::isLeader);
            long term = member.fence().orElseThrow().value();

            locks.execute("order:42", lock -> {
                // Two in a row, as a child that is refreshed, and one with a child of its own.
                childOf(parent)
                        .run(child -> assertThat(child.getBean(Orders.class).submit("1"))
                                .isTrue());
                childOf(parent)
                        .run(child -> childOf(child)
                                .run(grandchild -> assertThat(
                                                grandchild.getBean(Orders.class).submit("2"))
                                        .isTrue()));
                assertThat(lock.isHeld()).isTrue();
                return null;
            });

            assertThat(locks.<Boolean, RuntimeException>execute("order:43", LockHandle::isHeld))
                    .isTrue();
            assertThat(member.isLeader()).isTrue();
            assertThat(member.fence().orElseThrow().value()).isEqualTo(term);
            assertThat(parent.getBean(Elected.class).events).hasSize(1);
        });
    }

    @Test
    void a_child_without_auto_configuration_ends_nothing() {
        parents.run(parent -> {
            try (AnnotationConfigApplicationContext child = new AnnotationConfigApplicationContext()) {
                child.setParent(parent);
                child.register(Orders.class);
                child.refresh();
            }

            assertThat(parent.getBean(LockTemplate.class)
                            .<Boolean, RuntimeException>execute("order:42", LockHandle::isHeld))
                    .isTrue();
        });
    }

    @Test
    void siblings_have_engines_of_their_own() {
        new ApplicationContextRunner()
                .withBean(DataSource.class, () -> pool(database.url()))
                .run(parent -> childOf(parent).run(one -> {
                    LockTemplate locks = one.getBean(LockTemplate.class);
                    childOf(parent).run(two -> {
                        assertThat(two.getBean(LockEngine.class)).isNotSameAs(one.getBean(LockEngine.class));
                        assertThat(two.getBean(Orders.class).submit("1")).isTrue();
                    });
                    assertThat(locks.<Boolean, RuntimeException>execute("order:42", LockHandle::isHeld))
                            .isTrue();
                }));
    }

    @Test
    void an_engine_of_the_child_ends_with_the_child_alone() {
        parents.run(parent -> {
            TestDatabase other = TestDatabase.withSchema();
            LockEngine[] own = new LockEngine[1];
            childOf(parent)
                    .withBean(
                            "syncGuardLockManager",
                            LockEngine.class,
                            () -> parent.getBean(LockEngineFactory.class).engineOn(ApplicationBackend.on(other.url())))
                    .run(child -> {
                        own[0] = child.getBean(LockEngine.class);
                        LockHandle held = own[0].acquire(LockRequest.of("order:42"));
                        assertThat(other.lockedKeys()).containsExactly("order:42");
                        assertThat(held.isHeld()).isTrue();
                    });

            assertThat(other.lockedKeys()).isEmpty();
            assertThatThrownBy(() -> own[0].acquire(LockRequest.of("order:42"))).hasMessageContaining("shutting down");
            assertThat(parent.getBean(LockTemplate.class)
                            .<Boolean, RuntimeException>execute("order:42", LockHandle::isHeld))
                    .isTrue();
        });
    }

    @Test
    void a_child_makes_no_second_manager_on_the_backends_of_its_parent() throws Exception {
        try (BothServers servers = new BothServers()) {
            servers.with("postgres,redis").run(parent -> {
                servers.with("postgres,redis")
                        .withParent(parent)
                        .run(child -> assertThat(child.getBeansOfType(LockManager.class))
                                .isEmpty());

                for (LockManager locks :
                        parent.getBeansOfType(LockManager.class).values()) {
                    assertThat(new LockTemplate(locks)
                                    .<Boolean, RuntimeException>execute("order:42", LockHandle::isHeld))
                            .isTrue();
                }
            });
        }
    }

    @Test
    void a_commit_of_the_child_under_a_lock_of_its_parent_is_guarded() {
        parents.run(parent -> childOf(parent).run(child -> {
            JdbcTemplate jdbc = parent.getBean(JdbcTemplate.class);
            jdbc.execute("CREATE TABLE stock (item text)");

            assertThatThrownBy(() -> parent.getBean(LockTemplate.class).execute("order:42", lock -> {
                        child.getBean(Stock.class).take("screw", this::endLease);
                        return null;
                    }))
                    .isInstanceOf(LockLostException.class);

            assertThat(jdbc.queryForList("SELECT item FROM stock")).isEmpty();
        }));
    }

    @Test
    void the_flyway_of_a_child_runs_no_script_of_its_parent() {
        String url = TestDatabase.empty().url();
        parents.withPropertyValues("syncguard.postgres.schema-management=flyway")
                .run(parent -> Applications.withFlyway(url)
                        .withParent(parent)
                        .withBean("childDataSource", DataSource.class, () -> pool(url))
                        .withPropertyValues("spring.flyway.url=" + url)
                        .run(child -> {
                            assertThat(child).hasNotFailed();
                            List<Map<String, Object>> scripts = new JdbcTemplate(
                                            child.getBean("childDataSource", DataSource.class))
                                    .queryForList("SELECT script FROM flyway_schema_history");
                            assertThat(scripts).isNotEmpty();
                            assertThat(scripts.toString()).doesNotContain("syncguard");
                        }));
    }

    private void endLease() {
        database.jdbc().update("DELETE FROM syncguard_locks WHERE key = 'order:42'");
    }

    private ApplicationContextRunner childOf(ApplicationContext parent) {
        return Applications.withoutDatabase()
                .withParent(parent)
                .withPropertyValues(
                        "syncguard.shutdown-timeout=0s", "syncguard.leader.elections.scheduler.fence-rotation=0")
                .withUserConfiguration(Child.class);
    }

    private static HikariDataSource pool(String url) {
        HikariDataSource pool = new HikariDataSource();
        pool.setJdbcUrl(url);
        pool.setMaximumPoolSize(2);
        return pool;
    }

    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement
    static class Child {

        @Bean
        Orders orders() {
            return new Orders();
        }

        @Bean
        Stock stock(ObjectProvider<JdbcTemplate> jdbc) {
            return new Stock(jdbc);
        }
    }

    static class Elected {

        private final List<LeaderElectedEvent> events = new CopyOnWriteArrayList<>();

        @EventListener
        void elected(LeaderElectedEvent event) {
            events.add(event);
        }
    }

    static class Orders {

        @DistributedLock(name = "order", key = "#id")
        public boolean submit(String id) {
            return LockHandle.current("order:" + id).isPresent();
        }
    }

    static class Stock {

        private final ObjectProvider<JdbcTemplate> jdbc;

        Stock(ObjectProvider<JdbcTemplate> jdbc) {
            this.jdbc = jdbc;
        }

        @Transactional
        public void take(String item, Runnable before) {
            jdbc.getObject().update("INSERT INTO stock VALUES (?)", item);
            before.run();
        }
    }
}
