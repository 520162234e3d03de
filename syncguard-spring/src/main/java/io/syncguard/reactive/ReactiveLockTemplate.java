package io.syncguard.reactive;

import io.syncguard.LockErrorCode;
import io.syncguard.LockHandle;
import io.syncguard.LockHandles;
import io.syncguard.LockLimits;
import io.syncguard.LockLostException;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.LockSetupException;
import io.syncguard.OnLost;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.function.Function;
import org.reactivestreams.Publisher;
import reactor.core.Exceptions;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Runs a publisher under a lock. Each subscription acquires the lock, and releases it when it completes, fails or is
 * cancelled. Thread-safe.
 *
 * <pre>{@code
 * Mono<Receipt> receipt = locks.mono(LockRequest.of("order", id), lock -> payments.charge(id, lock.fence()));
 * }</pre>
 *
 * <p>When a subscriber sees the end, the key is free. In a reactive transaction of Spring, the lock is released when
 * that has ended, and the same transaction can lock the key again. A subscriber that cancels does not wait for the
 * release. Cancelling a subscription that waits for its lock ends the wait. If too many subscriptions wait already,
 * further ones fail at once with {@link LockErrorCode#RATE_LIMITED}: see {@link ReactiveThreads}.
 *
 * <p>A {@link LockManager#routing routing} manager is asked once for each subscription, on the thread that subscribes.
 * Nested subscriptions use the manager of the outer one, whatever thread they are on.
 *
 * <p>The Reactor context of the body has the {@link LockHandle}: {@code context.get(LockHandle.class)}. A nested
 * request for the same key joins it. {@link LockHandle#current()} works while the body makes its publisher, but not in
 * the operators of the publisher, which run on any thread.
 *
 * <p>The error of a subscription is what {@link LockManager#acquire} throws, what the body fails with, or a
 * {@link LockLostException}. A loss cancels the body and is reported at once; with {@link OnLost#NOTIFY}, the body runs
 * on and the loss is reported at its end. If a body fails after a loss, the subscription gets its error, with the loss
 * as a suppressed exception.
 */
public final class ReactiveLockTemplate {

    private final LockManager manager;
    private final ReactiveThreads threads;

    /** Creates a template whose subscriptions wait on these threads, up to their limit. */
    public ReactiveLockTemplate(LockManager manager, ReactiveThreads threads) {
        this.manager = LockLimits.requireNonNull("lock manager", manager);
        this.threads = LockLimits.requireNonNull("threads", threads);
    }

    /**
     * Creates a template without a limit of waiting subscriptions.
     *
     * @param threads run the blocking calls of the manager; each subscription that waits for its lock occupies one
     *     thread. The number of threads must not be limited, because releases run on them, too
     */
    public ReactiveLockTemplate(LockManager manager, Executor threads) {
        this(manager, new ReactiveThreads(threads, threads, Integer.MAX_VALUE));
    }

    /** Runs a body with one result or none under a lock. */
    public <T> Mono<T> mono(LockRequest request, Function<LockHandle, ? extends Mono<T>> body) {
        // Waits for the end: Mono.from would cancel at the first element, before the release.
        return this.<T>flux(request, body).singleOrEmpty();
    }

    /** Like {@link #mono(LockRequest, Function)} for the default request of this key. */
    public <T> Mono<T> mono(String key, Function<LockHandle, ? extends Mono<T>> body) {
        return mono(LockRequest.of(key), body);
    }

    /** Runs a body with any number of results under a lock. */
    public <T> Flux<T> flux(LockRequest request, Function<LockHandle, ? extends Publisher<T>> body) {
        return flux(
                List.of(request),
                manager -> LockHandles.of(
                        List.of(LockSetupException.requireAnswer("LockManager.acquire", manager.acquire(request)))),
                locks -> body.apply(locks.all().get(0)));
    }

    /** Like {@link #flux(LockRequest, Function)} for the default request of this key. */
    public <T> Flux<T> flux(String key, Function<LockHandle, ? extends Publisher<T>> body) {
        return flux(LockRequest.of(key), body);
    }

    /** Runs a body with one result or none under all locks: see {@link LockManager#acquire(List)}. */
    public <T> Mono<T> mono(List<LockRequest> requests, Function<LockHandles, ? extends Mono<T>> body) {
        return this.<T>flux(requests, body).singleOrEmpty();
    }

    /** Runs a body with any number of results under all locks: see {@link LockManager#acquire(List)}. */
    public <T> Flux<T> flux(List<LockRequest> requests, Function<LockHandles, ? extends Publisher<T>> body) {
        List<LockRequest> all = LockLimits.requests(requests);
        return flux(
                all, manager -> LockSetupException.requireAnswer("LockManager.acquire", manager.acquire(all)), body);
    }

    private <T> Flux<T> flux(
            List<LockRequest> requests,
            Function<LockManager, LockHandles> acquire,
            Function<LockHandles, ? extends Publisher<T>> body) {
        return routed(Flux.deferContextual(context -> {
            Surroundings around = new Surroundings(context, requests);
            LockManager current = Objects.requireNonNull(Routes.current(manager, context));
            return Flux.<T, Grant>usingWhen(
                    acquire(requests.get(0).key(), () -> acquire.apply(current), around),
                    grant -> run(grant.take(), around, body),
                    grant -> Mono.empty(),
                    (grant, failure) -> Mono.empty(),
                    grant -> Mono.fromFuture(grant.whenHandedOver(), true)
                            .then(end(grant.locks(), around))
                            .onErrorComplete());
        }));
    }

    /**
     * Returns a publisher that asks a {@link LockManager#routing routing} manager once for each subscription, on the
     * thread that subscribes. All locks of this manager inside the publisher are then in the same store. This includes
     * a further lock after the first has ended, and a repetition, which begin on a thread of the library.
     */
    public <T> Flux<T> routed(Publisher<T> publisher) {
        return Flux.deferContextual(context -> {
            if (Routes.current(manager, context) != null) {
                return publisher;
            }
            // Reactor restores the thread locals that its context has captured while it calls a handler.
            return Mono.just(manager)
                    .<LockManager>handle((routing, sink) ->
                            sink.next(LockSetupException.requireAnswer("LockManager.current", routing.current())))
                    .flatMapMany(current ->
                            Flux.from(publisher).contextWrite(inner -> Routes.with(manager, current, inner)));
        });
    }

    /** @param key for messages */
    private Mono<Grant> acquire(String key, Callable<LockHandles> acquire, Surroundings around) {
        return Mono.create(sink -> {
            Runnable waitEnded = around.haveLocks() ? () -> {} : threads.enter(key);
            ReactiveAcquisition acquisition =
                    new ReactiveAcquisition(() -> around.acquire(acquire), waitEnded, around::notTaken, sink);
            around.begin(acquisition);
            sink.onDispose(() -> around.end(acquisition));
            acquisition.on(threads);
        });
    }

    /** Runs the body, and then the release, which fails after a loss. */
    private <T> Flux<T> run(
            LockHandles locks, Surroundings around, Function<LockHandles, ? extends Publisher<T>> body) {
        HeldLocks held = around.outer().and(locks.all());
        Flux<T> result = Flux.defer(() -> publisher(held, locks, body));
        for (LockHandle lock : locks.all()) {
            if (lock.request().onLost() == OnLost.INTERRUPT) {
                result = result.takeUntilOther(Mono.create(sink -> lock.onLost(sink::success)));
            }
        }
        return result.onErrorResume(failure -> endAfter(failure, locks, around))
                .concatWith(end(locks, around).then(Mono.empty()))
                .contextWrite(held::writeTo);
    }

    private static <T> Publisher<T> publisher(
            HeldLocks held, LockHandles locks, Function<LockHandles, ? extends Publisher<T>> body) {
        try {
            return held.<Publisher<T>>call(() -> body.apply(locks));
        } catch (Error ex) {
            if (Exceptions.isJvmFatal(ex)) {
                // Reactor reports such an error, for instance a LinkageError, to no subscriber, so this subscription
                // would never end and release the locks.
                locks.all().forEach(LockHandle::release);
            }
            throw ex;
        }
    }

    private <T> Mono<T> endAfter(Throwable failure, LockHandles locks, Surroundings around) {
        return end(locks, around)
                .onErrorResume(atEnd -> {
                    LockLostException.suppress(failure, atEnd);
                    return Mono.empty();
                })
                .then(Mono.error(failure));
    }

    /** Releases the locks, at once or at the end of the transaction. */
    private Mono<Void> end(LockHandles locks, Surroundings around) {
        return Mono.defer(() -> {
            LockHandles now = around.endBody(locks, threads);
            return now.all().isEmpty() ? Mono.empty() : threads.close(now);
        });
    }
}
