package io.syncguard.frameworks.transactions;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.CommitGuard;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockLostException;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.testing.PostgresServer;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import jakarta.transaction.UserTransaction;
import java.util.Map;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.orm.jpa.LocalContainerEntityManagerFactoryBean;
import org.springframework.orm.jpa.SharedEntityManagerCreator;
import org.springframework.orm.jpa.vendor.HibernateJpaVendorAdapter;
import org.springframework.transaction.jta.JtaTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Locks and the transactions of JTA. The locks are in the database {@code shop}. "Ended" means that the server ends a
 * lease whose holder does not know that yet.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class GlobalTransactionContract {

    private static final LockRequest ORDER = LockRequest.of("order:1");

    private final String shopUrl = PostgresServer.newDatabaseUrl();
    private final String otherUrl = PostgresServer.newDatabaseUrl();
    private final JdbcTemplate shopRows = new JdbcTemplate(PostgresServer.dataSource(shopUrl));
    private final JdbcTemplate otherRows = new JdbcTemplate(PostgresServer.dataSource(otherUrl));
    private final ConfigurableApplicationContext application;
    private final JdbcTemplate shop;
    private final JdbcTemplate other;
    private final EntityManager entities;
    private final LockTemplate locks;
    private final TransactionTemplate transaction;

    /** @param platform the name that Hibernate has for the provider */
    GlobalTransactionContract(Class<?> provider, String platform) {
        shopRows.execute("CREATE TABLE book (id TEXT)");
        otherRows.execute("CREATE TABLE book (id TEXT)");
        application = new SpringApplicationBuilder(Books.class, provider)
                .web(WebApplicationType.NONE)
                .properties(Map.of("shop.url", shopUrl, "other.url", otherUrl, "platform", platform))
                .run();
        shop = new JdbcTemplate(application.getBean("shop", DataSource.class));
        other = new JdbcTemplate(application.getBean("other", DataSource.class));
        entities =
                SharedEntityManagerCreator.createSharedEntityManager(application.getBean(EntityManagerFactory.class));
        locks = application.getBean(LockTemplate.class);
        transaction = new TransactionTemplate(application.getBean(JtaTransactionManager.class));
    }

    @BeforeEach
    void empty() {
        shopRows.execute("TRUNCATE book, syncguard_locks");
        otherRows.execute("TRUNCATE book");
    }

    @AfterAll
    void close() {
        application.close();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_lock_inside_that_is_held_commits_before_and_after_the_first_statement(boolean first) {
        transaction.executeWithoutResult(status -> {
            if (first) {
                add(shop);
            }
            locks.executeWithoutResult(ORDER, lock -> add(shop));
            assertThat(isLocked()).as("until the commit").isTrue();
        });
        assertThat(books()).isEqualTo(first ? 2 : 1);
        assertThat(isLocked()).isFalse();
    }

    @ParameterizedTest
    @EnumSource(
            value = CommitGuard.class,
            names = {"AUTO", "REQUIRED"})
    void a_lock_inside_that_was_ended_is_refused(CommitGuard guard) {
        isRefused(() -> transaction.executeWithoutResult(
                status -> locks.executeWithoutResult(ORDER.commitGuard(guard), lock -> {
                    add(shop);
                    end();
                })));
    }

    @ParameterizedTest
    @EnumSource(
            value = CommitGuard.class,
            names = {"AUTO", "REQUIRED"})
    void the_same_after_the_first_statement_of_two_databases(CommitGuard guard) {
        isRefused(() -> transaction.executeWithoutResult(status -> {
            add(shop);
            add(other);
            locks.executeWithoutResult(ORDER.commitGuard(guard), lock -> end());
        }));
    }

    @ParameterizedTest
    @EnumSource(
            value = CommitGuard.class,
            names = {"AUTO", "REQUIRED"})
    void the_same_with_a_persistence_context(CommitGuard guard) {
        isRefused(() -> transaction.executeWithoutResult(
                status -> locks.executeWithoutResult(ORDER.commitGuard(guard), lock -> {
                    entities.persist(new Book("hibernate"));
                    end();
                })));
    }

    @ParameterizedTest
    @EnumSource(
            value = CommitGuard.class,
            names = {"AUTO", "REQUIRED"})
    void a_lock_around_that_was_ended_is_refused(CommitGuard guard) {
        isRefused(() -> locks.executeWithoutResult(
                ORDER.commitGuard(guard),
                lock -> transaction.executeWithoutResult(status -> {
                    add(shop);
                    add(other);
                    end();
                })));
    }

    @Test
    void required_and_held_commits_with_statements_and_entities_of_two_databases() {
        LockRequest required = ORDER.commitGuard(CommitGuard.REQUIRED);
        locks.executeWithoutResult(
                required,
                around -> transaction.executeWithoutResult(status -> {
                    entities.persist(new Book("hibernate"));
                    add(other);
                }));
        transaction.executeWithoutResult(status -> {
            locks.executeWithoutResult(required, lock -> {});
            add(shop);
        });
        assertThat(books()).isEqualTo(3);
    }

    /** Two databases end together, and one of them cannot pin the lease: then nothing is committed. */
    @Test
    void required_is_refused_if_no_connection_is_in_the_database_of_the_locks() {
        assertThatThrownBy(() -> locks.executeWithoutResult(
                        ORDER.commitGuard(CommitGuard.REQUIRED),
                        lock -> transaction.executeWithoutResult(status -> add(other))))
                .isInstanceOf(LockException.class)
                .hasMessageContaining("requires that transactions under it are guarded");
        assertThat(books()).isZero();
    }

    @Test
    void a_loss_that_only_the_release_after_the_commit_finds_reaches_the_caller() {
        assertThatThrownBy(() -> transaction.executeWithoutResult(status -> locks.executeWithoutResult(ORDER, lock -> {
                    add(other);
                    end();
                })))
                .isInstanceOf(LockLostException.class);
        assertThat(books()).as("committed, as there is no guard").isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_manager_that_is_no_bean_commits_under_a_held_lock_alone(boolean held) {
        JtaTransactionManager bean = application.getBean(JtaTransactionManager.class);
        JtaTransactionManager own = new JtaTransactionManager(bean.getUserTransaction(), bean.getTransactionManager());
        own.afterPropertiesSet();
        Runnable work = () -> new TransactionTemplate(own).executeWithoutResult(status -> {
            add(shop);
            locks.executeWithoutResult(ORDER, lock -> {
                add(shop);
                if (!held) {
                    end();
                }
            });
        });
        if (held) {
            work.run();
            assertThat(books()).isEqualTo(2);
        } else {
            isRefused(work);
        }
    }

    @Test
    void a_spring_transaction_in_one_that_the_application_began_holds_the_lock_to_its_end() throws Exception {
        UserTransaction begun = application.getBean(JtaTransactionManager.class).getUserTransaction();
        begun.begin();
        transaction.executeWithoutResult(status -> locks.executeWithoutResult(ORDER, lock -> add(shop)));
        assertThat(isLocked()).isTrue();
        begun.commit();
        assertThat(isLocked()).isFalse();
        assertThat(books()).isEqualTo(1);
    }

    @Test
    void a_transaction_that_spring_did_not_begin_neither_keeps_the_lock_nor_is_guarded() throws Exception {
        UserTransaction begun = application.getBean(JtaTransactionManager.class).getUserTransaction();
        begun.begin();
        LockHandle lock = application.getBean(LockManager.class).acquire(ORDER);
        add(shop);
        lock.release();
        assertThat(isLocked()).isFalse();
        lock = application.getBean(LockManager.class).acquire(ORDER);
        end();
        begun.commit();
        assertThat(lock.release()).isFalse();
        assertThat(books()).isEqualTo(1);
    }

    private void isRefused(Runnable work) {
        assertThatThrownBy(work::run).isInstanceOf(LockLostException.class);
        assertThat(books()).isZero();
    }

    private static void add(JdbcTemplate books) {
        books.update("INSERT INTO book VALUES ('jdbc')");
    }

    private void end() {
        shopRows.update("DELETE FROM syncguard_locks");
    }

    private int books() {
        return count(shopRows) + count(otherRows);
    }

    private static int count(JdbcTemplate rows) {
        return rows.queryForObject("SELECT count(*) FROM book", Integer.class);
    }

    private boolean isLocked() {
        return application.getBean(LockManager.class).isLocked(ORDER.key());
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration(exclude = HibernateJpaAutoConfiguration.class)
    static class Books {

        @Bean
        LocalContainerEntityManagerFactoryBean entityManagerFactory(
                @Qualifier("shop") DataSource shop, @Value("${platform}") String platform) {
            LocalContainerEntityManagerFactoryBean factory = new LocalContainerEntityManagerFactoryBean();
            factory.setJtaDataSource(shop);
            factory.setJpaVendorAdapter(new HibernateJpaVendorAdapter());
            factory.setPackagesToScan(Books.class.getPackageName());
            factory.setJpaPropertyMap(Map.of(
                    "hibernate.transaction.jta.platform", platform, "hibernate.transaction.coordinator_class", "jta"));
            return factory;
        }
    }
}
