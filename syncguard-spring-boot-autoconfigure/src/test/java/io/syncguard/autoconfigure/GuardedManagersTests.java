package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.syncguard.DistributedLock;
import io.syncguard.LockHandle;
import io.syncguard.LockLostException;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.LockRequest;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.Id;
import jakarta.persistence.PersistenceContext;
import jakarta.persistence.PreUpdate;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.jooq.SQLDialect;
import org.jooq.impl.DSL;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.orm.jpa.LocalContainerEntityManagerFactoryBean;
import org.springframework.orm.jpa.persistenceunit.PersistenceManagedTypes;
import org.springframework.orm.jpa.vendor.HibernateJpaVendorAdapter;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.Transactional;

/** The transaction managers and the libraries above them that guarded commits are made for. */
class GuardedManagersTests {

    private static final LockRequest ORDER = LockRequest.of("order:1");

    @RegisterExtension
    private static final GuardedCommits commits = new GuardedCommits();

    /** Called by Hibernate when it flushes a change, after the pin. */
    private static Runnable whenFlushed = () -> {};

    private final StockDatabase database = commits.database;

    @ParameterizedTest
    @ValueSource(classes = {Jdbc.class, PlainDataSource.class, Jooq.class, Jpa.class})
    void a_transaction_commits_while_the_lock_is_held_and_is_rolled_back_when_it_was_taken_over(Class<?> way) {
        run(way, application -> {
            Stock stock = application.getBean(Stock.class);
            stock.add(() -> {});
            assertThat(database.amount()).isEqualTo(1);

            assertThatThrownBy(() -> stock.add(() -> commits.takeOver(ORDER))).isInstanceOf(LockLostException.class);
            assertThat(database.amount()).isEqualTo(1);
        });
    }

    @Test
    void hibernate_flushes_after_the_pin_so_that_a_lease_that_is_lost_meanwhile_is_committed_without_an_error() {
        run(Jpa.class, application -> {
            LockHandle lost = add(application, lock -> {
                assertThat(commits.isPinned("order:1")).isTrue();
                commits.lose(lock);
            });
            assertThat(lost.state()).isEqualTo(LockHandle.State.LOST);
            assertThat(database.amount()).isEqualTo(1);
        });
    }

    @Test
    void a_release_while_hibernate_flushes_waits_for_the_commit() {
        run(Jpa.class, application -> {
            add(application, lock -> assertThat(lock.release()).isTrue());
            assertThat(database.amount()).isEqualTo(1);
            assertThat(database.lockedKeys()).isEmpty();
        });
    }

    @Test
    void a_flush_that_waits_for_a_row_of_another_one_who_waits_for_the_lock_ends_with_the_wait_time() throws Exception {
        FutureTask<Boolean> other = new FutureTask<>(this::changesTheRowAndWaitsForTheLock);
        run(
                Jpa.class,
                application -> application.getBean(Stock.class).add(() -> {
                    new Thread(other).start();
                    await().atMost(Duration.ofSeconds(10)).until(() -> commits.isAwaited("order:1"));
                }));
        assertThat(other.get(10, TimeUnit.SECONDS)).as("it got the lock").isFalse();
        assertThat(database.amount()).as("its change was rolled back").isEqualTo(1);
    }

    /** @param whileFlushing receives the lock while Hibernate flushes, after the pin */
    private static LockHandle add(ApplicationContext application, Consumer<LockHandle> whileFlushing) {
        LockHandle[] lock = new LockHandle[1];
        whenFlushed = () -> whileFlushing.accept(lock[0]);
        try {
            application
                    .getBean(Stock.class)
                    .add(() -> lock[0] = LockHandle.current().orElseThrow());
        } finally {
            whenFlushed = () -> {};
        }
        return lock[0];
    }

    private boolean changesTheRowAndWaitsForTheLock() throws SQLException {
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.executeUpdate("UPDATE stock SET amount = 100");
            commits.others().acquire(ORDER.waitTime(Duration.ofSeconds(1)));
            return true;
        } catch (LockNotAcquiredException ex) {
            return false;
        }
    }

    private static void run(Class<?> way, Consumer<ApplicationContext> test) {
        commits.runner().withUserConfiguration(way, Stock.class).run(test::accept);
    }

    /** Adds an apple in one of the ways. */
    interface Adding {
        void add();
    }

    static class Stock {

        private final Adding adding;

        Stock(Adding adding) {
            this.adding = adding;
        }

        @DistributedLock(key = "'order:1'", heartbeat = false)
        @Transactional
        public void add(Runnable meanwhile) {
            adding.add();
            meanwhile.run();
        }
    }

    abstract static class WithJdbcTemplate {

        @Bean
        Adding adding(JdbcTemplate jdbc) {
            return () -> jdbc.update("UPDATE stock SET amount = amount + 1");
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Jdbc extends WithJdbcTemplate {

        @Bean
        PlatformTransactionManager ownTransactionManager(DataSource dataSource) {
            return new JdbcTransactionManager(dataSource);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class PlainDataSource extends WithJdbcTemplate {

        @Bean
        PlatformTransactionManager ownTransactionManager(DataSource dataSource) {
            return new DataSourceTransactionManager(dataSource);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Jooq {

        @Bean
        Adding adding(DataSource dataSource) {
            return () -> DSL.using(new TransactionAwareDataSourceProxy(dataSource), SQLDialect.POSTGRES)
                    .execute("UPDATE stock SET amount = amount + 1");
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Jpa {

        @Bean
        LocalContainerEntityManagerFactoryBean entityManagerFactory(DataSource dataSource) {
            LocalContainerEntityManagerFactoryBean factory = new LocalContainerEntityManagerFactoryBean();
            factory.setDataSource(dataSource);
            factory.setJpaVendorAdapter(new HibernateJpaVendorAdapter());
            factory.setManagedTypes(PersistenceManagedTypes.of(Item.class.getName()));
            factory.setJpaPropertyMap(Map.of("hibernate.dialect", "org.hibernate.dialect.PostgreSQLDialect"));
            return factory;
        }

        @Bean
        PlatformTransactionManager ownTransactionManager(EntityManagerFactory factory) {
            return new JpaTransactionManager(factory);
        }

        @Bean
        Adding adding() {
            return new JpaAdding();
        }
    }

    static class JpaAdding implements Adding {

        @PersistenceContext
        private EntityManager entities;

        @Override
        public void add() {
            entities.find(Item.class, "apple").amount++;
        }
    }

    @Entity(name = "stock")
    static class Item {

        @Id
        String item;

        int amount;

        @PreUpdate
        void flushed() {
            whenFlushed.run();
        }
    }
}
