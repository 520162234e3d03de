package io.syncguard.reactive;

import static io.syncguard.core.EngineFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockHandle;
import io.syncguard.LockLostException;
import io.syncguard.LockManager;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.OnLost;
import io.syncguard.core.EngineFixture;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.testing.ScarceThreads;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;

/** A lock lasts as long as a subscription, and no thread of a subscriber waits for it. */
@Timeout(60)
class ReactiveLockTemplateTests {

    private static final LockRequest ORDER = LockRequest.of("order:42").waitTime(Duration.ofMinutes(1));

    @RegisterExtension
    private final EngineFixture fixture = new EngineFixture();

    private final ScarceThreads scarce = new ScarceThreads();
    private final ExecutorService threads = Executors.newCachedThreadPool(scarce);
    private final LockManager manager = fixture.engine;
    private final ReactiveLockTemplate locks = new ReactiveLockTemplate(manager, threads);

    @AfterEach
    void endThreads() {
        threads.shutdownNow();
    }

    @Test
    void a_lock_is_held_from_the_subscription_to_its_end() {
        Sinks.One<String> source = Sinks.one();
        Mono<String> receipt = locks.mono(ORDER, lock -> source.asMono());
        assertThat(isTaken()).isFalse();

        CountDownLatch releases = new CountDownLatch(1);
        CountDownLatch mayEnd = new CountDownLatch(1);
        fixture.backend.beforeRelease = () -> {
            releases.countDown();
            eventually().until(() -> mayEnd.getCount() == 0);
        };
        CompletableFuture<String> result = receipt.toFuture();
        eventually().until(this::isTaken);
        source.tryEmitValue("done");
        eventually().until(() -> releases.getCount() == 0);

        assertThat(result).as("while the release is under way").isNotDone();
        mayEnd.countDown();
        assertThat(result).succeedsWithin(Duration.ofSeconds(10)).isEqualTo("done");
        assertThat(isTaken()).isFalse();
    }

    @Test
    void a_body_without_a_result_is_one_too() {
        assertThat(locks.mono("order:42", lock -> Mono.empty()).blockOptional()).isEmpty();
        assertThat(isTaken()).isFalse();
    }

    @Test
    void a_list_of_requests_is_one_call_for_all_locks_and_any_loss_ends_it() {
        List<LockRequest> both =
                List.of(LockRequest.of("b"), LockRequest.of("a").shared());
        Sinks.One<String> source = Sinks.one();
        CompletableFuture<String> result = locks.mono(both, held -> {
                    assertThat(held.all()).extracting(LockHandle::key).containsExactly("b", "a");
                    assertThat(LockHandle.current("a")).isPresent();
                    assertThat(LockHandle.current("b")).isPresent();
                    return source.asMono();
                })
                .toFuture();
        eventually().until(() -> manager.isLocked("a") && manager.isLocked("b"));
        assertThat(fixture.backend.acquiresTogether).hasValue(1);

        manager.admin().forceRelease("a");
        fixture.advanceUntil(result::isDone);

        assertThat(result)
                .failsWithin(Duration.ofSeconds(10))
                .withThrowableThat()
                .havingRootCause()
                .isInstanceOf(LockLostException.class)
                .withMessageContaining("'a'");
        assertThat(manager.isLocked("b")).isFalse();
        assertThat(locks.flux(both, held -> Flux.just(1, 2)).collectList().block())
                .containsExactly(1, 2);
    }

    @Test
    void a_list_with_a_taken_key_fails_and_leaves_the_others_free() {
        fixture.holdElsewhere("b", EngineFixture.TTL);
        List<LockRequest> requests =
                List.of(LockRequest.of("a"), LockRequest.of("b").waitTime(Duration.ZERO));

        assertThat(failureOf(locks.mono(requests, held -> Mono.just("ran"))))
                .isInstanceOf(LockNotAcquiredException.class);
        assertThat(manager.isLocked("a")).isFalse();
    }

    @Test
    void each_subscription_takes_the_lock() {
        Mono<Long> fence = locks.mono("order:42", lock -> Mono.just(lock.fence().value()));

        assertThat(fence.repeat(2).collectList().block()).containsExactly(1L, 2L, 3L);
    }

    @Test
    void elements_arrive_while_the_lock_is_held_and_the_end_after_its_release() {
        Flux<Boolean> taken = locks.flux("order:42", lock -> Flux.just(1, 2)).map(element -> isTaken());

        assertThat(taken.concatWith(Mono.fromCallable(this::isTaken))
                        .collectList()
                        .block())
                .containsExactly(true, true, false);
    }

    @Test
    void a_body_that_fails_releases_the_lock() {
        IllegalStateException failure = new IllegalStateException("refused card");

        assertThat(failureOf(locks.mono(ORDER, lock -> Mono.error(failure)))).isSameAs(failure);
        assertThat(isTaken()).isFalse();
    }

    @Test
    void so_does_one_that_makes_no_publisher() {
        IllegalStateException failure = new IllegalStateException("no card");

        assertThat(failureOf(locks.<String>mono(ORDER, lock -> {
                    throw failure;
                })))
                .isSameAs(failure);
        assertThat(isTaken()).isFalse();
    }

    @Test
    void a_subscription_that_is_cancelled_releases_the_lock_and_cancels_the_body() {
        Sinks.Many<String> source = Sinks.many().unicast().onBackpressureBuffer();
        Disposable subscription = locks.flux(ORDER, lock -> source.asFlux()).subscribe();
        eventually().until(this::isTaken);

        subscription.dispose();

        eventually().until(() -> !isTaken());
        assertThat(source.currentSubscriberCount()).isZero();
    }

    @Test
    void a_lock_is_not_released_while_a_cancelled_body_still_runs_on_the_thread_that_acquired_it() {
        CountDownLatch runs = new CountDownLatch(1);
        CountDownLatch mayEnd = new CountDownLatch(1);
        Disposable subscription = locks.mono(
                        ORDER,
                        lock -> Mono.fromRunnable(() -> {
                            runs.countDown();
                            eventually().until(() -> mayEnd.getCount() == 0);
                        }))
                .subscribe();
        eventually().until(() -> runs.getCount() == 0);

        subscription.dispose();
        AtomicInteger others = new AtomicInteger();
        Disposable other = locks.mono(ORDER, lock -> Mono.fromCallable(others::incrementAndGet))
                .subscribe();
        eventually().until(() -> fixture.store.queue("order:42").size() == 1);
        assertThat(others).hasValue(0);
        assertThat(isTaken()).isTrue();
        mayEnd.countDown();

        eventually().until(() -> others.get() == 1 && other.isDisposed());
    }

    @Test
    void a_subscription_that_is_cancelled_while_it_waits_leaves_the_queue() {
        AcquireRequest other = fixture.holdElsewhere("order:42", EngineFixture.TTL);
        AtomicInteger bodies = new AtomicInteger();
        Disposable subscription = locks.mono(ORDER, lock -> Mono.fromCallable(bodies::incrementAndGet))
                .subscribe();
        eventually().until(() -> fixture.store.queue("order:42").size() == 1);

        subscription.dispose();

        eventually().until(() -> fixture.store.queue("order:42").isEmpty());
        fixture.releaseElsewhere(other);
        assertThat(locks.mono(ORDER, lock -> Mono.just("next")).block()).isEqualTo("next");
        assertThat(bodies).hasValue(0);
    }

    @Test
    void a_lock_that_is_granted_while_the_subscription_is_cancelled_is_released() {
        AtomicReference<Disposable> subscription = new AtomicReference<>();
        AtomicInteger bodies = new AtomicInteger();
        fixture.backend.beforeAcquire = () -> eventually().until(() -> subscription.get() != null);
        fixture.backend.afterAcquire = () -> subscription.get().dispose();

        subscription.set(locks.mono(ORDER, lock -> Mono.fromCallable(bodies::incrementAndGet))
                .subscribe());

        eventually().until(() -> fixture.events.contains("released"));
        assertThat(isTaken()).isFalse();
        assertThat(bodies).hasValue(0);
    }

    @Test
    void subscribers_do_not_wait_and_many_that_do_not_get_their_lock_do_not_hold_up_others() {
        AcquireRequest other = fixture.holdElsewhere("order:42", EngineFixture.TTL);
        Flux<String> waiting = Flux.merge(IntStream.range(0, 200)
                .mapToObj(i -> locks.mono(ORDER, lock -> Mono.just("done")))
                .toList());

        // A thread of this scheduler may not block.
        CompletableFuture<List<String>> results =
                waiting.subscribeOn(Schedulers.parallel()).collectList().toFuture();
        eventually().until(() -> fixture.store.queue("order:42").size() > 0);

        assertThat(locks.mono("order:43", lock -> Mono.just("free")).block()).isEqualTo("free");
        assertThat(results).isNotDone();
        fixture.releaseElsewhere(other);
        assertThat(results)
                .succeedsWithin(Duration.ofSeconds(30))
                .satisfies(all -> assertThat(all).hasSize(200));
    }

    @Test
    void a_lock_that_is_not_granted_is_the_error() {
        fixture.holdElsewhere("order:42", EngineFixture.TTL);

        assertThat(failureOf(locks.mono(ORDER.waitTime(Duration.ZERO), lock -> Mono.just("done"))))
                .isInstanceOf(LockNotAcquiredException.class)
                .hasMessageContaining("order:42");
    }

    @Test
    void a_loss_cancels_the_body_and_is_the_error() {
        Sinks.Many<String> source = Sinks.many().unicast().onBackpressureBuffer();
        CompletableFuture<List<String>> result =
                locks.flux(ORDER, lock -> source.asFlux()).collectList().toFuture();
        eventually().until(() -> source.currentSubscriberCount() == 1);

        loseLock();

        assertThat(result)
                .failsWithin(Duration.ofSeconds(10))
                .withThrowableThat()
                .havingCause()
                .isInstanceOf(LockLostException.class)
                .withMessageContaining("order:42");
        assertThat(source.currentSubscriberCount()).isZero();
    }

    @Test
    void a_body_that_is_only_notified_of_a_loss_runs_to_its_end() {
        Sinks.Many<String> source = Sinks.many().unicast().onBackpressureBuffer();
        AtomicReference<String> last = new AtomicReference<>();
        CompletableFuture<List<String>> result = locks.flux(ORDER.onLost(OnLost.NOTIFY), lock -> source.asFlux())
                .doOnNext(last::set)
                .collectList()
                .toFuture();
        eventually().until(() -> source.currentSubscriberCount() == 1);

        loseLock();
        source.tryEmitNext("afterwards");
        source.tryEmitComplete();

        assertThat(result)
                .failsWithin(Duration.ofSeconds(10))
                .withThrowableThat()
                .havingCause()
                .isInstanceOf(LockLostException.class);
        assertThat(last).hasValue("afterwards");
    }

    @Test
    void the_failure_of_a_body_whose_lock_was_lost_comes_first() {
        Sinks.One<String> source = Sinks.one();
        IllegalStateException failure = new IllegalStateException("refused card");
        CompletableFuture<String> result =
                locks.mono(ORDER.onLost(OnLost.NOTIFY), lock -> source.asMono()).toFuture();
        eventually().until(() -> source.currentSubscriberCount() == 1);

        loseLock();
        source.tryEmitError(failure);

        assertThat(result)
                .failsWithin(Duration.ofSeconds(10))
                .withThrowableThat()
                .havingCause()
                .isSameAs(failure);
        assertThat(failure.getSuppressed()).singleElement().isInstanceOf(LockLostException.class);
    }

    @Test
    void the_context_has_the_innermost_handle() {
        Mono<String> key = locks.mono(
                "order:42",
                outer -> locks.mono(
                        "order:43",
                        inner -> Mono.deferContextual(context ->
                                Mono.just(context.get(LockHandle.class).key()))));

        assertThat(key.block()).isEqualTo("order:43");
    }

    @Test
    void the_handle_is_current_while_the_body_makes_its_publisher() {
        assertThat(locks.mono(
                                "order:42",
                                lock -> Mono.just(
                                        LockHandle.current().orElseThrow().key()))
                        .block())
                .isEqualTo("order:42");
    }

    @Test
    void a_nested_request_joins_the_lock_of_its_key_on_any_thread() {
        Mono<String> nested = locks.mono(
                ORDER,
                outer -> locks.mono(
                        "order:43",
                        between -> Mono.just("")
                                .publishOn(Schedulers.parallel())
                                .flatMap(on -> locks.mono(
                                        ORDER,
                                        inner -> Mono.just(
                                                inner.lockId().equals(outer.lockId()) ? "joined" : "another")))));

        assertThat(nested.block(Duration.ofSeconds(10))).isEqualTo("joined");
        assertThat(isTaken()).isFalse();
    }

    @Test
    void a_publisher_joins_the_lock_of_the_thread_that_subscribes() {
        String fences = new LockTemplate(manager)
                .execute(
                        ORDER,
                        outer -> locks.mono(ORDER, inner -> Mono.just(outer.fence() + " " + inner.fence()))
                                .block(Duration.ofSeconds(10)));

        assertThat(fences).isEqualTo("000000000000001 000000000000001");
    }

    @Test
    void a_nested_request_does_not_run_when_the_outer_lock_is_lost() {
        AtomicInteger bodies = new AtomicInteger();
        Mono<Integer> nested = locks.mono(ORDER.onLost(OnLost.NOTIFY), outer -> {
            loseLock();
            return locks.mono("order:43", inner -> Mono.fromCallable(bodies::incrementAndGet));
        });

        assertThat(failureOf(nested)).isInstanceOf(LockLostException.class).hasMessageContaining("order:42");
        assertThat(bodies).hasValue(0);
    }

    @Test
    void a_lack_of_threads_is_the_error_and_nothing_stays_behind() {
        scarce.exhausted = true;

        assertThat(failureOf(locks.mono(ORDER, lock -> Mono.just("done")))).isInstanceOf(InternalError.class);

        scarce.exhausted = false;
        assertThat(locks.mono(ORDER, lock -> Mono.just("done")).block()).isEqualTo("done");
    }

    /** Reactor passes the error to no subscriber, so the subscription does not end. */
    @Test
    void a_fatal_error_of_a_body_releases_the_lock() {
        Disposable subscription = locks.mono(ORDER, lock -> {
                    throw new NoClassDefFoundError("io/example/Gone");
                })
                .subscribe();

        eventually().until(() -> fixture.events.contains("released"));
        assertThat(isTaken()).isFalse();
        subscription.dispose();
    }

    private boolean isTaken() {
        return fixture.store.fence("order:42") > 0 && manager.isLocked("order:42");
    }

    private void loseLock() {
        fixture.store.expire("order:42");
        fixture.time.advance(EngineFixture.TTL);
    }

    private static Throwable failureOf(Mono<?> mono) {
        return mono.<Throwable>map(value -> new AssertionError("It ended with " + value))
                .onErrorResume(Mono::just)
                .block(Duration.ofSeconds(10));
    }
}
