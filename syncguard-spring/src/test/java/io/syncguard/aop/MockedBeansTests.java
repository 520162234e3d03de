package io.syncguard.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.Mockito.mock;

import io.syncguard.DistributedLock;
import io.syncguard.LockManager;
import io.syncguard.LockSetupException;
import io.syncguard.LockTemplate;
import io.syncguard.core.DefaultSettings;
import io.syncguard.core.LockEngine;
import io.syncguard.core.LockObserver;
import io.syncguard.core.TransactionBoundary;
import io.syncguard.memory.InMemoryLockBackend;
import io.syncguard.reactive.ReactiveLockTemplate;
import io.syncguard.testing.CapturedLog;
import java.util.List;
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
        return Stream.of(
                Arguments.of(LockTemplate.class, annotated),
                Arguments.of(LockTemplate.class, published),
                Arguments.of(LockManager.class, annotated),
                Arguments.of(LockManager.class, published),
                Arguments.of(LockManager.class, template),
                Arguments.of(LockManager.class, reactive));
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
