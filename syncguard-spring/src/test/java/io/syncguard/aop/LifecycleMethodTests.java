package io.syncguard.aop;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.DistributedLock;
import io.syncguard.LockHandle;
import io.syncguard.LockRequest;
import io.syncguard.LockSetupException;
import io.syncguard.LockTemplate;
import jakarta.annotation.PostConstruct;
import jakarta.annotation.PreDestroy;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.core.env.Environment;

/** Methods that Spring calls on the object itself, so that no proxy sees the call. */
@Timeout(60)
class LifecycleMethodTests {

    @RegisterExtension
    private final LockedApplication application = new LockedApplication();

    @ParameterizedTest
    @ValueSource(
            classes = {
                AfterConstruction.class,
                OfSuperclass.class,
                Overridden.class,
                OfInterface.class,
                Composed.class,
                Private.class,
                Initializing.class,
                Injected.class,
                InitMethod.class,
                InitMethodOfInterface.class
            })
    void a_locked_method_is_refused_before_it_runs_at_the_begin(Class<?> configuration) {
        assertRefused(configuration, "ContextRefreshedEvent", "LockTemplate");
    }

    @ParameterizedTest
    @ValueSource(classes = {BeforeDestruction.class, Disposable.class, DestroyMethod.class})
    void a_locked_method_is_refused_that_runs_at_the_end(Class<?> configuration) {
        assertRefused(configuration, "ContextClosedEvent");
    }

    /** The annotation of a class is about its other methods. */
    @ParameterizedTest
    @ValueSource(classes = {OfLockedClass.class, LockedBesideInit.class, ClosedByTheApplication.class})
    void a_bean_starts_whose_lifecycle_method_has_no_annotation_of_its_own(Class<?> bean) {
        application.with(bean).run(context -> {
            assertThat(context).hasNotFailed();
            context.getBean(bean).getClass().getMethod("work").invoke(context.getBean(bean));
            assertThat(application.grants("n")).isEqualTo(1);
        });
    }

    @Test
    void what_the_message_proposes_runs_under_the_lock() {
        Recorded.CALLS.clear();
        application.with(Proposed.class).run(context -> {});

        assertThat(Recorded.CALLS).containsExactly("init under n", "ready under n", "closed under n");
    }

    private void assertRefused(Class<?> configuration, String... advice) {
        Recorded.CALLS.clear();
        application.with(configuration).run(context -> {
            assertThat(context.getStartupFailure())
                    .rootCause()
                    .isInstanceOf(LockSetupException.class)
                    .hasMessageContaining("@DistributedLock on ")
                    .hasMessageContaining("without a lock")
                    .hasMessageContainingAll(advice);
        });
        assertThat(Recorded.CALLS).isEmpty();
    }

    /** What ran. */
    static class Recorded {

        static final List<String> CALLS = new ArrayList<>();

        static void call() {
            CALLS.add("called");
        }
    }

    static class AfterConstruction {

        @PostConstruct
        @DistributedLock("n")
        public void init() {
            Recorded.call();
        }
    }

    static class OfSuperclass extends AfterConstruction {}

    static class Overridden extends AfterConstruction {

        @Override
        public void init() {
            Recorded.call();
        }
    }

    interface Warm {

        @DistributedLock("n")
        void init();
    }

    static class OfInterface implements Warm {

        @PostConstruct
        @Override
        public void init() {
            Recorded.call();
        }
    }

    @DistributedLock("n")
    @Retention(RetentionPolicy.RUNTIME)
    @interface Locked {}

    static class Composed {

        @PostConstruct
        @Locked
        void init() {
            Recorded.call();
        }
    }

    static class Private {

        @PostConstruct
        @DistributedLock("n")
        private void init() {
            Recorded.call();
        }
    }

    static class Initializing implements InitializingBean {

        @DistributedLock("n")
        @Override
        public void afterPropertiesSet() {
            Recorded.call();
        }
    }

    static class Injected {

        @Autowired
        @DistributedLock("n")
        public void inject(Environment environment) {
            Recorded.call();
        }
    }

    static class Plain implements Warm {

        @DistributedLock("n")
        public void warmUp() {
            Recorded.call();
        }

        @Override
        public void init() {
            Recorded.call();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class InitMethod {

        @Bean(initMethod = "warmUp")
        Plain plain() {
            return new Plain();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class InitMethodOfInterface {

        @Bean(initMethod = "init")
        Warm plain() {
            return new Plain();
        }
    }

    static class BeforeDestruction {

        @PreDestroy
        @DistributedLock("n")
        public void end() {
            Recorded.call();
        }
    }

    static class Disposable implements DisposableBean {

        @DistributedLock("n")
        @Override
        public void destroy() {
            Recorded.call();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class DestroyMethod {

        @Bean(destroyMethod = "warmUp")
        Plain plain() {
            return new Plain();
        }
    }

    @DistributedLock("n")
    static class OfLockedClass {

        @PostConstruct
        public void init() {}

        public void work() {}
    }

    static class LockedBesideInit {

        @PostConstruct
        public void init() {}

        @DistributedLock("n")
        public void work() {}
    }

    /** Spring infers that it closes the bean, but the application may, too. */
    static class ClosedByTheApplication implements AutoCloseable {

        @DistributedLock("closing")
        @Override
        public void close() {}

        @DistributedLock("n")
        public void work() {}
    }

    static class Proposed {

        private final LockTemplate locks;

        Proposed(LockTemplate locks) {
            this.locks = locks;
        }

        @PostConstruct
        void init() {
            locks.executeWithoutResult(LockRequest.of("n"), lock -> record("init"));
        }

        @EventListener(ContextRefreshedEvent.class)
        @DistributedLock("n")
        public void ready() {
            record("ready");
        }

        @EventListener(ContextClosedEvent.class)
        @DistributedLock("n")
        public void closed() {
            record("closed");
        }

        private void record(String when) {
            Recorded.CALLS.add(
                    when + " under " + LockHandle.current().orElseThrow().key());
        }
    }
}
