package io.syncguard.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import io.syncguard.DistributedLock;
import io.syncguard.LockManager;
import io.syncguard.LockSetupException;
import io.syncguard.LockTemplate;
import io.syncguard.core.DefaultSettings;
import io.syncguard.core.LockEngine;
import io.syncguard.core.LockObserver;
import io.syncguard.core.TransactionBoundary;
import io.syncguard.integration.SyncGuardLockRegistry;
import io.syncguard.memory.InMemoryLockBackend;
import io.syncguard.reactive.ReactiveLockTemplate;
import io.syncguard.testing.CapturedLog;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import reactor.core.publisher.Mono;

/** A test that mocks a bean of the library reads what to use instead, and no NullPointerException. */
@Timeout(60)
class MockedBeansTests {

    @RegisterExtension
    private final LockedApplication application = new LockedApplication();

    @ParameterizedTest
    @MethodSource("calls")
    void a_mock_is_named(Class<?> mocked, Function<ApplicationContext, Object> call) {
        with(mocked)
                .run(context -> assertThatThrownBy(() -> call.apply(context))
                        .isInstanceOf(LockSetupException.class)
                        .hasMessageContaining("returned null, as a mock does")
                        .hasMessageContaining("@AutoConfigureTestLocks"));
    }

    static Stream<Arguments> calls() {
        Function<ApplicationContext, Object> annotated =
                context -> context.getBean(Orders.class).submit();
        Function<ApplicationContext, Object> published =
                context -> context.getBean(Orders.class).later().block();
        Function<ApplicationContext, Object> template = context ->
                context.getBean(LockTemplate.class).<String, RuntimeException>execute("order", lock -> "submitted");
        Function<ApplicationContext, Object> reactive =
                context -> new ReactiveLockTemplate(context.getBean(LockManager.class), Runnable::run)
                        .mono("order", lock -> Mono.just("submitted"))
                        .block();
        Function<ApplicationContext, Object> registry = context -> {
            registryLock(context).lock();
            return "locked";
        };
        Function<ApplicationContext, Object> registryAtOnce =
                context -> registryLock(context).tryLock();
        return Stream.of(
                Arguments.of(LockManager.class, registry),
                Arguments.of(LockManager.class, registryAtOnce),
                Arguments.of(LockTemplate.class, annotated),
                Arguments.of(LockTemplate.class, published),
                Arguments.of(LockManager.class, annotated),
                Arguments.of(LockManager.class, published),
                Arguments.of(LockManager.class, template),
                Arguments.of(LockManager.class, reactive));
    }

    private static Lock registryLock(ApplicationContext context) {
        return new SyncGuardLockRegistry(context.getBean(LockManager.class), "registry", Duration.ofSeconds(30))
                .obtain("42");
    }

    @Test
    void a_mock_of_a_store_that_is_current_is_named_by_a_registry() throws Exception {
        LockManager manager = mock();
        when(manager.current()).thenReturn(manager);
        Lock lock = new SyncGuardLockRegistry(manager, "registry", Duration.ofSeconds(30)).obtain("42");

        assertThatThrownBy(lock::lock)
                .isInstanceOf(LockSetupException.class)
                .hasMessageContaining("LockManager.acquire returned null, as a mock does");
        assertThatThrownBy(lock::lockInterruptibly)
                .isInstanceOf(LockSetupException.class)
                .hasMessageContaining("LockManager.acquire returned null, as a mock does");
        assertThatThrownBy(() -> lock.tryLock(1, TimeUnit.SECONDS))
                .isInstanceOf(LockSetupException.class)
                .hasMessageContaining("LockManager.acquire returned null, as a mock does");
        assertThat(lock.tryLock()).isFalse();
    }

    @Test
    void a_mock_of_an_observer_observes_nothing_and_says_nothing() {
        try (CapturedLog log = new CapturedLog();
                LockEngine engine = new LockEngine(
                        new InMemoryLockBackend(),
                        DefaultSettings.of("test"),
                        TransactionBoundary.NONE,
                        List.of(),
                        mock(LockObserver.class))) {
            assertThat(new LockTemplate(engine).<String, RuntimeException>execute("order", lock -> "submitted"))
                    .isEqualTo("submitted");

            assertThat(log.messages()).isEmpty();
        }
    }

    private <T> ApplicationContextRunner with(Class<T> mocked) {
        return application.with(Orders.class).withBean(mocked, () -> mock(mocked));
    }

    static class Orders {

        @DistributedLock("order")
        public String submit() {
            return "submitted";
        }

        @DistributedLock("order")
        public Mono<String> later() {
            return Mono.just("submitted");
        }
    }
}
