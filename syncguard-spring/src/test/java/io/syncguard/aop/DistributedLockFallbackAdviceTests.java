package io.syncguard.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.DistributedLock;
import io.syncguard.LockHandle;
import io.syncguard.LockNotAcquiredException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.aspectj.lang.ProceedingJoinPoint;
import org.aspectj.lang.annotation.Around;
import org.aspectj.lang.annotation.Aspect;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.cache.concurrent.ConcurrentMapCacheManager;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseBuilder;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseType;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;

/** The annotations of a fallback, and those of its class, count as if the fallback were called from outside. */
@Timeout(60)
class DistributedLockFallbackAdviceTests {

    @RegisterExtension
    private final LockedApplication application = new LockedApplication();

    @ParameterizedTest
    @ValueSource(
            classes = {
                OnFallback.class,
                OnPrivate.class,
                OnStatic.class,
                OnFinal.class,
                OnSuperclass.class,
                OnClass.class,
                OnClassOfPrivate.class,
                OnInterface.class,
                OfDefault.class,
                OutsideOfInterface.class,
                OfAnnotatedClass.class,
                OfScoped.class
            })
    void a_transactional_fallback_that_fails_leaves_no_row(Class<?> bean) {
        for (boolean classProxies : new boolean[] {true, false}) {
            with(bean, classProxies).run(context -> {
                LockHandle ofOther = application.takenBySomebodyElse("orders");

                assertThatThrownBy(() -> context.getBean(Jobs.class).submit("7"))
                        .hasMessage("after the row of 7");

                assertThat(rows(context.getBean(JdbcTemplate.class))).isZero();
                ofOther.close();
            });
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_fallback_without_annotations_has_no_transaction(boolean classProxies) {
        with(Plain.class, classProxies).run(context -> {
            application.takenBySomebodyElse("orders");

            assertThatThrownBy(() -> context.getBean(Jobs.class).submit("7")).hasMessage("after the row of 7");

            assertThat(rows(context.getBean(JdbcTemplate.class))).isEqualTo(1);
        });
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_locked_fallback_has_its_lock(boolean classProxies) {
        with(Locked.class, classProxies).run(context -> {
            application.takenBySomebodyElse("orders");
            Keys keys = context.getBean(Keys.class);

            assertThat(keys.submit("7")).contains("stored:7");

            application.takenBySomebodyElse("stored:7");
            assertThatThrownBy(() -> keys.submit("7"))
                    .isInstanceOf(LockNotAcquiredException.class)
                    .hasMessageContaining("stored:7");
        });
    }

    @Test
    void a_fallback_may_have_a_fallback() {
        with(Chain.class, true).run(context -> {
            application.takenBySomebodyElse("orders");
            application.takenBySomebodyElse("stored:7");

            assertThat(context.getBean(Keys.class).submit("7")).contains("last");
        });
    }

    @ParameterizedTest
    @ValueSource(classes = {Circle.class, OwnCircle.class})
    void fallbacks_in_a_circle_fail_the_start(Class<?> bean) {
        with(bean, true)
                .run(context -> assertThat(context)
                        .getFailure()
                        .hasStackTraceContaining(
                                "attribute 'fallback': the fallbacks call each other again and again: "));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_cached_fallback_runs_once(boolean classProxies) {
        with(Cached.class, classProxies).run(context -> {
            application.takenBySomebodyElse("orders");
            Keys keys = context.getBean(Keys.class);

            assertThat(List.of(keys.submit("7"), keys.submit("7"), keys.submit("8")))
                    .containsExactly(Optional.of("7 in run 1"), Optional.of("7 in run 1"), Optional.of("8 in run 2"));
        });
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void an_aspect_sees_the_fallback(boolean classProxies) {
        with(Advised.class, classProxies).withUserConfiguration(Shouting.class).run(context -> {
            application.takenBySomebodyElse("orders");

            assertThat(context.getBean(Keys.class).submit("7")).contains("7!");
        });
    }

    private ApplicationContextRunner with(Class<?> bean, boolean classProxies) {
        return application.with(Database.class, bean).withPropertyValues("proxy-target-class=" + classProxies);
    }

    private static int rows(JdbcTemplate jdbc) {
        Integer rows = jdbc.queryForObject("SELECT count(*) FROM orders", Integer.class);
        return rows == null ? -1 : rows;
    }

    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement
    @EnableCaching
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
            JdbcTemplate jdbc = new JdbcTemplate(dataSource);
            jdbc.execute("CREATE TABLE orders (id VARCHAR(10))");
            return jdbc;
        }

        @Bean
        PlatformTransactionManager transactionManager(DataSource dataSource) {
            return new JdbcTransactionManager(dataSource);
        }

        @Bean
        ConcurrentMapCacheManager cacheManager() {
            return new ConcurrentMapCacheManager();
        }
    }

    public interface Jobs {

        void submit(String id);
    }

    public interface Keys {

        Optional<String> submit(String id);
    }

    abstract static class Writing implements Jobs {

        private final JdbcTemplate jdbc;

        Writing(JdbcTemplate jdbc) {
            this.jdbc = jdbc;
        }

        void write(String id) {
            write(id, jdbc);
        }

        static void write(String id, JdbcTemplate jdbc) {
            jdbc.update("INSERT INTO orders VALUES (?)", id);
            throw new IllegalStateException("after the row of " + id);
        }
    }

    static class Plain extends Writing {

        Plain(JdbcTemplate jdbc) {
            super(jdbc);
        }

        @Override
        @DistributedLock(name = "orders", fallback = "instead")
        public void submit(String id) {}

        public void instead(String id) {
            write(id);
        }
    }

    static class OnFallback extends Writing {

        OnFallback(JdbcTemplate jdbc) {
            super(jdbc);
        }

        @Override
        @DistributedLock(name = "orders", fallback = "instead")
        public void submit(String id) {}

        @Transactional
        public void instead(String id, LockNotAcquiredException refusal) {
            write(id);
        }
    }

    static class OnPrivate extends Writing {

        OnPrivate(JdbcTemplate jdbc) {
            super(jdbc);
        }

        @Override
        @DistributedLock(name = "orders", fallback = "instead")
        public void submit(String id) {}

        @Transactional
        private void instead(String id) {
            write(id);
        }
    }

    static class OnStatic extends Writing {

        @SuppressWarnings("NullAway.Init")
        private static JdbcTemplate ofClass;

        OnStatic(JdbcTemplate jdbc) {
            super(jdbc);
            ofClass = jdbc;
        }

        @Override
        @DistributedLock(name = "orders", fallback = "instead")
        public void submit(String id) {}

        @Transactional
        static void instead(String id) {
            write(id, ofClass);
        }
    }

    static class OnFinal extends Writing {

        OnFinal(JdbcTemplate jdbc) {
            super(jdbc);
        }

        @Override
        @DistributedLock(name = "orders", fallback = "instead")
        public void submit(String id) {}

        @Transactional
        final void instead(String id) {
            write(id);
        }
    }

    static class OnSuperclass extends OnFallback {

        OnSuperclass(JdbcTemplate jdbc) {
            super(jdbc);
        }

        @Override
        public void instead(String id, LockNotAcquiredException refusal) {
            write(id);
        }
    }

    @Transactional
    static class OnClass extends Writing {

        OnClass(JdbcTemplate jdbc) {
            super(jdbc);
        }

        @Override
        @DistributedLock(name = "orders", fallback = "instead")
        public void submit(String id) {}

        public void instead(String id) {
            write(id);
        }
    }

    @Transactional
    static class OnClassOfPrivate extends Writing {

        OnClassOfPrivate(JdbcTemplate jdbc) {
            super(jdbc);
        }

        @Override
        @DistributedLock(name = "orders", fallback = "instead")
        public void submit(String id) {}

        private void instead(String id) {
            write(id);
        }
    }

    interface WithFallback extends Jobs {

        @Transactional
        void instead(String id);
    }

    static class OnInterface extends Writing implements WithFallback {

        OnInterface(JdbcTemplate jdbc) {
            super(jdbc);
        }

        @Override
        @DistributedLock(name = "orders", fallback = "instead")
        public void submit(String id) {}

        @Override
        public void instead(String id) {
            write(id);
        }
    }

    interface WithDefault extends Jobs {

        void writeRow(String id);

        @Transactional
        default void instead(String id) {
            writeRow(id);
        }
    }

    static class OfDefault extends Writing implements WithDefault {

        OfDefault(JdbcTemplate jdbc) {
            super(jdbc);
        }

        @Override
        @DistributedLock(name = "orders", fallback = "instead")
        public void submit(String id) {}

        @Override
        public void writeRow(String id) {
            write(id);
        }
    }

    static class OutsideOfInterface extends Writing {

        OutsideOfInterface(JdbcTemplate jdbc) {
            super(jdbc);
        }

        @Override
        @DistributedLock(name = "orders", fallback = "instead")
        public void submit(String id) {}

        @Transactional
        void instead(String id) {
            write(id);
        }
    }

    @DistributedLock(name = "orders", fallback = "instead")
    static class OfAnnotatedClass extends Writing {

        OfAnnotatedClass(JdbcTemplate jdbc) {
            super(jdbc);
        }

        @Override
        public void submit(String id) {}

        @Transactional
        public void instead(String id) {
            write(id);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OfScoped {

        @Bean
        @Scope(scopeName = "prototype", proxyMode = ScopedProxyMode.TARGET_CLASS)
        OnFallback jobs(JdbcTemplate jdbc) {
            return new OnFallback(jdbc);
        }
    }

    private static Optional<String> lockedKey() {
        return LockHandle.current().map(LockHandle::key);
    }

    static class Locked implements Keys {

        @Override
        @DistributedLock(name = "orders", fallback = "instead")
        public Optional<String> submit(String id) {
            return Optional.empty();
        }

        @DistributedLock(name = "stored", key = "#id")
        public Optional<String> instead(String id) {
            return lockedKey();
        }
    }

    static class Chain implements Keys {

        @Override
        @DistributedLock(name = "orders", fallback = "instead")
        public Optional<String> submit(String id) {
            return Optional.empty();
        }

        @DistributedLock(name = "stored", key = "#id", fallback = "last")
        public Optional<String> instead(String id) {
            return lockedKey();
        }

        private Optional<String> last(String id) {
            return Optional.of("last");
        }
    }

    static class Circle implements Keys {

        @Override
        @DistributedLock(name = "orders", fallback = "instead")
        public Optional<String> submit(String id) {
            return Optional.empty();
        }

        @DistributedLock(name = "stored", fallback = "last")
        public Optional<String> instead(String id) {
            return Optional.empty();
        }

        @DistributedLock(name = "last", fallback = "submit")
        public Optional<String> last(String id) {
            return Optional.empty();
        }
    }

    @DistributedLock(name = "orders", fallback = "instead")
    static class OwnCircle implements Keys {

        @Override
        public Optional<String> submit(String id) {
            return Optional.empty();
        }

        @DistributedLock(name = "stored", fallback = "submit")
        public Optional<String> instead(String id) {
            return Optional.empty();
        }
    }

    static class Cached implements Keys {

        private final AtomicInteger runs = new AtomicInteger();

        @Override
        @DistributedLock(name = "orders", fallback = "instead")
        public Optional<String> submit(String id) {
            return Optional.empty();
        }

        @Cacheable("orders")
        public Optional<String> instead(String id) {
            return Optional.of(id + " in run " + runs.incrementAndGet());
        }
    }

    static class Advised implements Keys {

        @Override
        @DistributedLock(name = "orders", fallback = "instead")
        public Optional<String> submit(String id) {
            return Optional.empty();
        }

        Optional<String> instead(String id) {
            return Optional.of(id);
        }
    }

    @Aspect
    static class Shouting {

        @Around("execution(* *..Advised.instead(..))")
        public Object shout(ProceedingJoinPoint call) throws Throwable {
            return ((Optional<?>) call.proceed()).map(text -> text + "!");
        }
    }
}
