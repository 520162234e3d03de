package io.syncguard.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.DistributedLock;
import io.syncguard.Fence;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockMode;
import io.syncguard.StaleFenceException;
import io.syncguard.fencing.FenceGuard;
import io.syncguard.fencing.FenceSchema;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ContextConsumer;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseBuilder;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseType;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

/** The fence of a lock is checked in the transaction of the annotated method. */
@Timeout(60)
class FencedResourceTests {

    private static final Fence LARGE = new Fence(1_000_000);

    @RegisterExtension
    private final LockedApplication application = new LockedApplication();

    @Test
    void the_fence_of_the_lock_is_recorded_before_the_body_and_in_its_transaction() {
        run(context -> {
            context.getBean(Accounts.class).book("42");

            assertThat(work(context)).containsExactly("42, seen 000000000000001");
            assertThat(seen(context, "account:42")).isEqualTo(1);
        });
    }

    @Test
    void a_holder_with_a_smaller_fence_is_refused_before_the_body() {
        run(context -> {
            record(context, "account:42", LARGE);

            assertThatExceptionOfType(StaleFenceException.class)
                    .isThrownBy(() -> context.getBean(Accounts.class).book("42"))
                    .satisfies(refusal -> assertThat(refusal.resource()).isEqualTo("account:42"));
            assertThat(work(context)).isEmpty();
            assertThat(application.isTaken("account:42")).isFalse();
        });
    }

    @Test
    void a_resource_whose_text_differs_for_each_object_is_refused() {
        run(context -> {
            assertThatExceptionOfType(LockException.class)
                    .isThrownBy(() -> context.getBean(Accounts.class).bookFor(new Object()))
                    .withMessageContainingAll("fenced resource", "Accounts.bookFor", "java.lang.Object", "toString()");
            assertThat(work(context)).isEmpty();
        });
    }

    @Test
    void a_body_that_fails_takes_the_record_back() {
        run(context -> {
            assertThatThrownBy(() -> context.getBean(Accounts.class).fail("42")).hasMessage("no money");

            assertThat(seen(context, "account:42")).isZero();
        });
    }

    @Test
    void a_method_without_a_transaction_is_refused_at_the_call() {
        run(context -> {
            assertThatExceptionOfType(LockException.class)
                    .isThrownBy(() -> context.getBean(Accounts.class).bookWithoutTransaction("42"))
                    .withMessageContaining("Accounts.bookWithoutTransaction")
                    .withMessageContaining("fencedResource")
                    .withMessageContaining("no transaction is running")
                    .satisfies(error -> assertThat(error.code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT));
            assertThat(work(context)).isEmpty();
        });
    }

    @ParameterizedTest
    @ValueSource(classes = {ByDefault.class, OfALowerOrder.class})
    void in_a_new_transaction_inside_of_another_the_check_belongs_to_the_new_one(Class<?> transactions) {
        runner(Accounts.class, transactions).run(context -> {
            context.getBean(TransactionTemplate.class).executeWithoutResult(outer -> {
                context.getBean(Accounts.class).bookInNewTransaction("42");
                outer.setRollbackOnly();
            });

            assertThat(work(context)).hasSize(1);
            assertThat(seen(context, "account:42")).isEqualTo(1);
        });
    }

    @Test
    void in_the_transaction_of_the_caller_the_check_belongs_to_that_one() {
        run(context -> {
            context.getBean(TransactionTemplate.class).executeWithoutResult(outer -> {
                context.getBean(Accounts.class).book("42");
                outer.setRollbackOnly();
            });

            assertThat(work(context)).isEmpty();
            assertThat(seen(context, "account:42")).isZero();
        });
    }

    @Test
    void each_of_several_keys_has_its_own_resource_and_fence() {
        run(context -> {
            Accounts accounts = context.getBean(Accounts.class);
            accounts.book("1");
            accounts.book("1");

            accounts.transfer("2", "1");

            assertThat(seen(context, "account:1")).isEqualTo(3);
            assertThat(seen(context, "account:2")).isEqualTo(1);
        });
    }

    @Test
    void a_key_that_comes_twice_is_one_lock() {
        run(context -> {
            context.getBean(Accounts.class).transfer("1", "1");

            assertThat(seen(context, "account:1")).isEqualTo(1);
        });
    }

    @Test
    void resources_that_are_not_one_for_each_key_are_refused_before_a_lock_is_taken() {
        run(context -> {
            assertThatExceptionOfType(LockException.class)
                    .isThrownBy(() -> context.getBean(Accounts.class).transferOne("1", "2"))
                    .withMessageContaining("1 for the 2 keys")
                    .withMessageContaining("Accounts.transferOne");
            assertThat(application.grants("account:1")).isZero();
        });
    }

    @Test
    void a_resource_without_a_value_or_outside_its_limits_is_refused_before_a_lock_is_taken() {
        run(context -> {
            for (String text : new String[] {null, " ", "x".repeat(600)}) {
                assertThatExceptionOfType(LockException.class)
                        .isThrownBy(() -> context.getBean(Accounts.class).bookOn("42", text))
                        .satisfies(error -> assertThat(error.code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT))
                        .withMessageContaining("resource");
            }
            assertThat(application.grants("account:42")).isZero();
        });
    }

    @Test
    void a_call_without_a_lock_checks_nothing_also_under_another_lock() {
        run(context -> {
            Accounts accounts = context.getBean(Accounts.class);
            record(context, "account:42", LARGE);

            accounts.underAnotherLock(() -> accounts.bookIf("42", false));

            assertThat(work(context)).hasSize(1);
            assertThatThrownBy(() -> accounts.bookIf("42", true)).isInstanceOf(StaleFenceException.class);
        });
    }

    @ParameterizedTest
    @ValueSource(classes = {UnparsableResource.class, UnknownParameter.class, WithoutQuotes.class, Shared.class})
    void a_mistake_fails_the_start(Class<?> type) {
        runner(type)
                .run(context -> assertThat(context)
                        .getFailure()
                        .hasStackTraceContaining("@DistributedLock on " + type.getName() + ".run")
                        .hasStackTraceContaining("fencedResource"));
    }

    private void run(ContextConsumer<ApplicationContext> test) {
        runner(Accounts.class, ByDefault.class).run(context -> {
            assertThat(context).hasNotFailed();
            test.accept(context);
        });
    }

    private ApplicationContextRunner runner(Class<?>... configurations) {
        return application.with(configurations).withUserConfiguration(Database.class);
    }

    private static void record(ApplicationContext context, String resource, Fence fence) {
        FenceGuard fences = context.getBean(FenceGuard.class);
        context.getBean(TransactionTemplate.class).executeWithoutResult(status -> fences.check(resource, fence));
    }

    private static long seen(ApplicationContext context, String resource) {
        return Accounts.seen(context.getBean(JdbcTemplate.class), resource);
    }

    private static List<String> work(ApplicationContext context) {
        return context.getBean(JdbcTemplate.class).queryForList("SELECT done FROM work", String.class);
    }

    @Configuration(proxyBeanMethods = false)
    static class Database {

        @Bean
        DataSource dataSource() {
            return new EmbeddedDatabaseBuilder()
                    .setType(EmbeddedDatabaseType.H2)
                    .generateUniqueName(true)
                    .build();
        }

        @Bean
        JdbcTemplate jdbc(DataSource dataSource) {
            return new JdbcTemplate(dataSource);
        }

        @Bean
        JdbcTransactionManager transactionManager(DataSource dataSource) {
            return new JdbcTransactionManager(dataSource);
        }

        @Bean
        TransactionTemplate transactions(JdbcTransactionManager manager) {
            return new TransactionTemplate(manager);
        }

        @Bean
        FenceGuard guard(DataSource dataSource) {
            new FenceSchema(dataSource, "syncguard_fences").initialize();
            return new FenceGuard(dataSource, "syncguard_fences");
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement
    static class ByDefault {}

    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement(order = 0)
    static class OfALowerOrder {}

    static class Accounts {

        private final JdbcTemplate jdbc;

        Accounts(JdbcTemplate jdbc) {
            this.jdbc = jdbc;
            jdbc.execute("CREATE TABLE IF NOT EXISTS work (done VARCHAR(100))");
        }

        static long seen(JdbcTemplate jdbc, String resource) {
            return jdbc
                    .queryForList("SELECT fence FROM syncguard_fences WHERE resource = ?", Long.class, resource)
                    .stream()
                    .findFirst()
                    .orElse(0L);
        }

        private void insert(String id) {
            Fence seen = new Fence(Math.max(1, seen(jdbc, "account:" + id)));
            jdbc.update("INSERT INTO work (done) VALUES (?)", id + ", seen " + seen);
        }

        @Transactional
        @DistributedLock(name = "account", key = "#id", fencedResource = "#id")
        public void book(String id) {
            insert(id);
        }

        @Transactional
        @DistributedLock(name = "account", key = "#id", fencedResource = "#id")
        public void fail(String id) {
            insert(id);
            throw new IllegalStateException("no money");
        }

        @Transactional
        @DistributedLock(name = "account", key = "'all'", fencedResource = "'for ' + #customer")
        public void bookFor(Object customer) {
            insert("all");
        }

        @DistributedLock(name = "account", key = "#id", fencedResource = "#id")
        public void bookWithoutTransaction(String id) {
            insert(id);
        }

        @Transactional(propagation = Propagation.REQUIRES_NEW)
        @DistributedLock(name = "account", key = "#id", fencedResource = "#id")
        public void bookInNewTransaction(String id) {
            insert(id);
        }

        @Transactional
        @DistributedLock(name = "account", key = "{#from, #to}", fencedResource = "{#from, #to}")
        public void transfer(String from, String to) {
            insert(from);
        }

        @Transactional
        @DistributedLock(name = "account", key = "{#from, #to}", fencedResource = "#from")
        public void transferOne(String from, String to) {
            insert(from);
        }

        @Transactional
        @DistributedLock(name = "account", key = "#id", fencedResource = "#resource")
        public void bookOn(String id, String resource) {
            insert(id);
        }

        @Transactional
        @DistributedLock(name = "account", key = "#id", fencedResource = "#id", condition = "#locked")
        public void bookIf(String id, boolean locked) {
            insert(id);
        }

        @DistributedLock(name = "other")
        public void underAnotherLock(Runnable work) {
            work.run();
        }
    }

    static class UnparsableResource {

        @DistributedLock(name = "account", fencedResource = "#id +")
        public void run(String id) {}
    }

    static class UnknownParameter {

        @DistributedLock(name = "account", fencedResource = "#account")
        public void run(String id) {}
    }

    static class WithoutQuotes {

        @DistributedLock(name = "account", fencedResource = "ledger")
        public void run(String id) {}
    }

    static class Shared {

        @DistributedLock(name = "account", mode = LockMode.SHARED, fencedResource = "#id")
        public void run(String id) {}
    }
}
