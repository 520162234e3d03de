package io.syncguard.reactive;

import static io.syncguard.core.EngineFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.LockUnavailableException;
import io.syncguard.core.EngineFixture;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.testing.CapturedLog;
import io.syncguard.testing.ScarceThreads;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;

/** No more subscriptions wait than the limit says, and those that hold a lock are not counted. */
@Timeout(60)
class ReactiveLimitTests {

    private static final Duration LIMIT = Duration.ofSeconds(10);
    private static final int MAX_WAITING = 4;
    private static final LockRequest ORDER = LockRequest.of("order:42").waitTime(Duration.ofMinutes(1));
    private static final LockRequest OTHER = ORDER.key("order:43");

    @RegisterExtension
    private final EngineFixture fixture = new EngineFixture();

    private final ScarceThreads scarce = new ScarceThreads();
    private final ExecutorService acquisitions = Executors.newCachedThreadPool(scarce);
    private final ExecutorService releases = Executors.newSingleThreadExecutor();
    private final ReactiveThreads threads = new ReactiveThreads(acquisitions, releases, MAX_WAITING);
    private final ReactiveLockTemplate locks = new ReactiveLockTemplate(fixture.engine, threads);

    @AfterEach
    void endThreads() {
        acquisitions.shutdownNow();
        releases.shutdownNow();
    }

    @Test
    void one_more_than_the_limit_is_refused_at_once() {
        AcquireRequest holder = fixture.holdElsewhere("order:42", EngineFixture.TTL);
        List<CompletableFuture<String>> waiting = waitFor("order:42", MAX_WAITING);
        try (CapturedLog log = new CapturedLog()) {
            Throwable refusal = failureOf(locks.mono(ORDER, lock -> Mono.just("done")));
            assertThat(refusal)
                    .isInstanceOfSatisfying(
                            LockUnavailableException.class,
                            ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.RATE_LIMITED))
                    .hasMessageContaining(
                            "4 reactive calls wait for locks, the limit of syncguard.reactive.max-waiting")
                    .hasMessageContaining("order:42");
            assertThat(failureOf(locks.mono("order:44", lock -> Mono.just("done"))))
                    .hasMessageContaining("order:44");
            assertThat(log.messages()).as("reported once").hasSize(1);
        }

        fixture.releaseElsewhere(holder);

        assertThat(waiting).allSatisfy(each -> assertThat(each).succeedsWithin(LIMIT));
        assertThat(locks.mono(ORDER, lock -> Mono.just("done")).block(LIMIT)).isEqualTo("done");
    }

    @Test
    void an_executor_that_was_shut_down_aborts_and_asks_for_no_more_threads() {
        acquisitions.shutdown();

        assertThat(failureOf(locks.mono(ORDER, lock -> Mono.just("done"))))
                .isInstanceOfSatisfying(
                        LockException.class, ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.ABORTED))
                .hasMessageContaining("shut down");
    }

    @Test
    void a_cancelled_subscription_gives_its_place_back() {
        fixture.holdElsewhere("order:42", EngineFixture.TTL);
        List<Disposable> waiting = IntStream.range(0, MAX_WAITING)
                .mapToObj(i -> locks.mono(ORDER, lock -> Mono.just("done")).subscribe())
                .toList();
        eventually().until(() -> fixture.store.queue("order:42").size() == MAX_WAITING);

        waiting.forEach(Disposable::dispose);

        eventually().until(() -> fixture.store.queue("order:42").isEmpty());
        eventually()
                .untilAsserted(() -> assertThat(waitFor("order:43", MAX_WAITING))
                        .allSatisfy(each -> assertThat(each).succeedsWithin(LIMIT)));
    }

    @Test
    void one_that_is_refused_or_fails_gives_its_place_back() {
        fixture.holdElsewhere("order:42", EngineFixture.TTL);
        Mono<String> once = locks.mono(ORDER.waitTime(Duration.ZERO), lock -> Mono.just("done"));

        for (int i = 0; i < 3 * MAX_WAITING; i++) {
            assertThat(failureOf(once)).isNotInstanceOf(LockBackendException.class);
        }
        scarce.exhausted = true;
        ReactiveLockTemplate withoutThreads =
                new ReactiveLockTemplate(fixture.engine, new ReactiveThreads(fresh(scarce), releases, MAX_WAITING));
        for (int i = 0; i < 3 * MAX_WAITING; i++) {
            assertThat(failureOf(withoutThreads.mono(OTHER, lock -> Mono.just("done"))))
                    .isInstanceOf(InternalError.class);
        }
        scarce.exhausted = false;

        assertThat(withoutThreads.mono(OTHER, lock -> Mono.just("done")).block(LIMIT))
                .isEqualTo("done");
    }

    @Test
    void a_holder_is_not_counted_when_it_waits_for_its_next_lock() {
        AcquireRequest first = fixture.holdElsewhere("order:42", EngineFixture.TTL);
        AcquireRequest second = fixture.holdElsewhere("order:43", EngineFixture.TTL);
        Sinks.One<String> mayNest = Sinks.one();
        CompletableFuture<String> nested = locks.mono(
                        "order:1", outer -> mayNest.asMono().then(locks.mono(OTHER, inner -> Mono.just("nested"))))
                .toFuture();
        eventually().until(() -> mayNest.currentSubscriberCount() == 1);
        List<CompletableFuture<String>> waiting = waitFor("order:42", MAX_WAITING);

        mayNest.tryEmitEmpty();
        eventually().until(() -> fixture.store.queue("order:43").size() == 1);
        fixture.releaseElsewhere(second);

        assertThat(nested).succeedsWithin(LIMIT).isEqualTo("nested");
        assertThat(waiting).noneMatch(CompletableFuture::isDone);
        fixture.releaseElsewhere(first);
    }

    @Test
    void nor_is_a_subscription_of_a_thread_that_holds_a_lock() {
        fixture.holdElsewhere("order:42", EngineFixture.TTL);
        waitFor("order:42", MAX_WAITING);

        String done = new LockTemplate(fixture.engine)
                .execute(
                        "order:1",
                        lock -> locks.mono(OTHER, inner -> Mono.just("done")).block(LIMIT));

        assertThat(done).isEqualTo("done");
    }

    @Test
    void an_executor_that_rejects_an_acquisition_is_the_error_and_no_subscriber_waits() {
        Executor full = task -> {
            throw new RejectedExecutionException("as tested");
        };
        ReactiveLockTemplate template =
                new ReactiveLockTemplate(fixture.engine, new ReactiveThreads(full, releases, MAX_WAITING));

        CompletableFuture<Throwable> failure = Mono.defer(() -> template.mono(ORDER, lock -> Mono.just("done")))
                .subscribeOn(Schedulers.parallel())
                .<Throwable>map(value -> new AssertionError(value))
                .onErrorResume(Mono::just)
                .toFuture();

        assertThat(failure).succeedsWithin(LIMIT).isInstanceOfSatisfying(LockBackendException.class, ex -> {
            assertThat(ex.code()).isEqualTo(LockErrorCode.RATE_LIMITED);
        });
    }

    @Test
    void a_release_that_its_executor_refuses_is_sent() {
        releases.shutdown();

        assertThat(locks.mono(ORDER, lock -> Mono.just("done")).block(LIMIT)).isEqualTo("done");
        assertThat(fixture.engine.isLocked("order:42")).isFalse();
    }

    private List<CompletableFuture<String>> waitFor(String key, int number) {
        int before = fixture.store.queue(key).size();
        List<CompletableFuture<String>> waiting = new ArrayList<>();
        for (int i = 0; i < number; i++) {
            waiting.add(locks.mono(ORDER.key(key), lock -> Mono.just("done")).toFuture());
        }
        eventually()
                .until(() -> fixture.store.queue(key).size() == before + number
                        || waiting.stream().allMatch(CompletableFuture::isDone));
        return waiting;
    }

    private ExecutorService fresh(ScarceThreads factory) {
        return Executors.newCachedThreadPool(factory);
    }

    private static Throwable failureOf(Mono<?> mono) {
        return mono.<Throwable>map(value -> new AssertionError("It ended with " + value))
                .onErrorResume(Mono::just)
                .block(LIMIT);
    }
}
