package io.syncguard.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.syncguard.DistributedLock;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockMode;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.LockRequest;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.annotation.AliasFor;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** {@code permits} of the annotation: at most so many callers at a time, over all processes. */
@Timeout(60)
class DistributedLockPermitsTests {

    @RegisterExtension
    private final LockedApplication application = new LockedApplication();

    private final ApplicationContextRunner runner = application
            .with(Partners.class, OfMethod.class, OfClass.class, OfInterface.class, Composed.class, Placeholder.class)
            .withPropertyValues("partner.permits=5");

    @ParameterizedTest
    @ValueSource(classes = {OfMethod.class, OfClass.class, OfInterface.class, Composed.class, Placeholder.class})
    void every_way_to_annotate_asks_for_a_shared_lock_with_permits(Class<? extends Limited> bean) {
        runner.run(context -> {
            LockRequest request = context.getBean(bean).request();

            assertThat(request.permits()).isEqualTo(5);
            assertThat(request.mode()).isEqualTo(LockMode.SHARED);
        });
    }

    @Test
    void the_advisor_knows_the_names_of_all_methods_and_their_permits() {
        runner.run(context -> {
            DistributedLockAdvisor advisor = context.getBean(DistributedLockAdvisor.class);

            assertThat(advisor.locks()).extracting(AnnotatedLock::name).containsOnly("partner");
            assertThat(advisor.permits()).isEqualTo(Map.of("partner", Set.of(1, 2, 5)));
        });
    }

    @Test
    void the_second_caller_is_refused_until_the_first_has_ended() {
        runner.run(context -> {
            Partners partners = context.getBean(Partners.class);
            application.readBySomebodyElse("partner:42");
            assertThat(partners.ask("42", () -> "asked")).isEqualTo("asked");
            LockHandle second = application.readBySomebodyElse("partner:42");

            assertThatExceptionOfType(LockNotAcquiredException.class)
                    .isThrownBy(() -> partners.ask("42", () -> "asked"));
            assertThat(partners.ask("43", () -> "asked")).isEqualTo("asked");
            second.release();
            assertThat(partners.ask("42", () -> "asked")).isEqualTo("asked");
        });
    }

    @Test
    void an_exclusive_method_of_the_same_name_waits_for_all_of_them() {
        runner.run(context -> {
            Partners partners = context.getBean(Partners.class);
            LockHandle somebodyElse = application.readBySomebodyElse("partner:42");

            assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> partners.drain("42"));
            somebodyElse.release();

            assertThat(partners.drain("42")).isEqualTo(LockMode.EXCLUSIVE);
        });
    }

    @Test
    void a_nested_call_takes_no_second_permit_and_one_with_fewer_is_refused() {
        runner.run(context -> {
            Partners partners = context.getBean(Partners.class);
            application.readBySomebodyElse("partner:42");

            assertThat(partners.ask("42", () -> partners.ask("42", () -> "asked")))
                    .isEqualTo("asked");
            assertThat(application.grants("partner:42")).isEqualTo(2);
            assertThatExceptionOfType(LockException.class)
                    .isThrownBy(() -> partners.ask("42", () -> partners.alone("42")))
                    .withMessageContaining("as one of 2, and a nested request for one of 1");
        });
    }

    @Test
    void several_keys_have_a_permit_each() {
        runner.run(context -> {
            Partners partners = context.getBean(Partners.class);
            application.readBySomebodyElse("partner:a");

            assertThatExceptionOfType(LockNotAcquiredException.class)
                    .isThrownBy(() -> partners.all(List.of("b", "a"), () -> "asked"));
            assertThat(application.isTaken("partner:b")).isFalse();
            assertThat(partners.all(List.of("c", "b"), () -> {
                        assertThat(CompletableFuture.supplyAsync(() -> partners.alone("c")))
                                .failsWithin(Duration.ofSeconds(30))
                                .withThrowableOfType(ExecutionException.class)
                                .withCauseInstanceOf(LockNotAcquiredException.class);
                        return "asked";
                    }))
                    .isEqualTo("asked");
        });
    }

    @Test
    void a_future_and_a_publisher_keep_their_permit_until_they_are_done() {
        runner.run(context -> {
            Partners partners = context.getBean(Partners.class);
            CompletableFuture<String> quote = new CompletableFuture<>();
            CompletableFuture<String> later = partners.askLater("42", quote);
            Sinks.One<String> sink = Sinks.one();
            CompletableFuture<String> published =
                    partners.publish("42", sink.asMono()).toFuture();
            Awaitility.await().until(() -> application.grants("partner:42") == 2);

            assertThatExceptionOfType(LockNotAcquiredException.class)
                    .isThrownBy(() -> partners.ask("42", () -> "asked"));
            quote.complete("later");
            assertThat(later.get()).isEqualTo("later");
            assertThat(partners.ask("42", () -> "asked")).isEqualTo("asked");
            sink.tryEmitValue("published");
            assertThat(published.get()).isEqualTo("published");
            assertThat(application.isTaken("partner:42")).isFalse();
        });
    }

    private static LockRequest current() {
        return LockHandle.current().orElseThrow().request();
    }

    static class Partners {

        @DistributedLock(name = "partner", key = "#id", permits = "2")
        public <T> T ask(String id, Supplier<T> body) {
            return body.get();
        }

        @DistributedLock(name = "partner", key = "#id", permits = "1")
        public String alone(String id) {
            return id;
        }

        @DistributedLock(name = "partner", key = "#id")
        public LockMode drain(String id) {
            return current().mode();
        }

        @DistributedLock(name = "partner", key = "#ids", permits = "1")
        public <T> T all(List<String> ids, Supplier<T> body) {
            return body.get();
        }

        @DistributedLock(name = "partner", key = "#id", permits = "2")
        public CompletableFuture<String> askLater(String id, CompletableFuture<String> quote) {
            return quote;
        }

        @DistributedLock(name = "partner", key = "#id", permits = "2")
        public Mono<String> publish(String id, Mono<String> quote) {
            return quote;
        }
    }

    interface Limited {
        LockRequest request();
    }

    static class OfMethod implements Limited {

        @Override
        @DistributedLock(name = "partner", mode = LockMode.SHARED, permits = "5")
        public LockRequest request() {
            return current();
        }
    }

    @DistributedLock(name = "partner", permits = "5")
    static class OfClass implements Limited {

        @Override
        public LockRequest request() {
            return current();
        }
    }

    interface Annotated extends Limited {

        @Override
        @DistributedLock(name = "partner", permits = "5")
        LockRequest request();
    }

    static class OfInterface implements Annotated {

        @Override
        public LockRequest request() {
            return current();
        }
    }

    @Retention(RetentionPolicy.RUNTIME)
    @DistributedLock(name = "partner")
    @interface AtMost {

        @AliasFor(annotation = DistributedLock.class, attribute = "permits")
        String value();
    }

    static class Composed implements Limited {

        @Override
        @AtMost("5")
        public LockRequest request() {
            return current();
        }
    }

    static class Placeholder implements Limited {

        @Override
        @DistributedLock(name = "partner", permits = "${partner.permits}")
        public LockRequest request() {
            return current();
        }
    }
}
