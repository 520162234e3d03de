package io.syncguard.reactive;

import io.syncguard.LockHandle;
import io.syncguard.LockLostException;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.OnLost;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Function;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * Runs a publisher under a lock. Each subscription acquires the lock, and releases it when it completes, fails or is
 * cancelled. Threads may share it.
 *
 * <pre>{@code
 * Mono<Receipt> receipt = locks.mono("order:" + id, lock -> payments.charge(id, lock.fence()));
 * }</pre>
 *
 * <p>A subscriber that sees the end finds the key free; one that cancels does not wait for the release. Cancelling a
 * subscription that waits for its lock ends the wait.
 *
 * <p>The Reactor context of the body has the {@link LockHandle}: {@code context.get(LockHandle.class)}. A nested
 * request for the same key joins it. {@link LockHandle#current()} works while the body makes its publisher, and not in
 * the operators of that, which run on any thread.
 *
 * <p>The error of a subscription is what {@link LockManager#acquire} throws, what the body fails with, or a
 * {@link LockLostException}. A loss cancels the body and is reported at once; with {@link OnLost#NOTIFY} the body runs
 * on and the loss is reported at its end. If a body fails after a loss, its error has the loss suppressed beneath it.
 */
public final class ReactiveLockTemplate {

    private final LockManager manager;
    private final Executor threads;
    private final Scheduler acquisitions;

    /**
     * @param threads run the calls of the manager, which block: each subscription that waits for its lock occupies one.
     *     So their number must not be limited
     */
    public ReactiveLockTemplate(LockManager manager, Executor threads) {
        this.manager = manager;
        this.threads = threads;
        this.acquisitions = Schedulers.fromExecutor(threads);
    }

    /** A body with one result or none. */
    public <T> Mono<T> mono(LockRequest request, Function<LockHandle, ? extends Mono<T>> body) {
        // Waits for the end: Mono.from would cancel at the first element, before the release.
        return this.<T>flux(request, body).singleOrEmpty();
    }

    /** Like {@link #mono(LockRequest, Function)} for the default request of this key. */
    public <T> Mono<T> mono(String key, Function<LockHandle, ? extends Mono<T>> body) {
        return mono(LockRequest.of(key), body);
    }

    /** A body with any number of results. */
    public <T> Flux<T> flux(LockRequest request, Function<LockHandle, ? extends Publisher<T>> body) {
        return Flux.deferContextual(context -> {
            HeldLocks outer = HeldLocks.of(context);
            return Flux.<T, Grant>usingWhen(
                    Mono.create(sink ->
                            new Acquisition(() -> outer.call(() -> manager.acquire(request)), sink).on(acquisitions)),
                    grant -> run(outer.and(grant.take()), body),
                    grant -> Mono.empty(),
                    (grant, failure) -> Mono.empty(),
                    grant -> Mono.fromFuture(grant.whenHandedOver(), true)
                            .then(release(grant.lock()))
                            .onErrorComplete());
        });
    }

    /** Like {@link #flux(LockRequest, Function)} for the default request of this key. */
    public <T> Flux<T> flux(String key, Function<LockHandle, ? extends Publisher<T>> body) {
        return flux(LockRequest.of(key), body);
    }

    /** The body and the release. After a loss the release fails. */
    private <T> Flux<T> run(HeldLocks held, Function<LockHandle, ? extends Publisher<T>> body) {
        LockHandle lock = held.innermost();
        Flux<T> result = Flux.defer(() -> held.<Publisher<T>>call(() -> body.apply(lock)));
        if (lock.request().onLost() == OnLost.INTERRUPT) {
            result = result.takeUntilOther(Mono.create(sink -> lock.onLost(sink::success)));
        }
        return result.onErrorResume(failure -> releaseAfter(failure, lock))
                .concatWith(release(lock).then(Mono.empty()))
                .contextWrite(held::writeTo);
    }

    private <T> Mono<T> releaseAfter(Throwable failure, LockHandle lock) {
        return release(lock)
                .onErrorResume(atEnd -> {
                    boolean sameLoss = failure instanceof LockLostException one
                            && atEnd instanceof LockLostException other
                            && one.key().equals(other.key());
                    if (!sameLoss) {
                        failure.addSuppressed(atEnd);
                    }
                    return Mono.empty();
                })
                .then(Mono.error(failure));
    }

    /** A cancelled subscription does not cancel it. */
    private Mono<Void> release(LockHandle lock) {
        return Mono.fromFuture(() -> CompletableFuture.runAsync(lock::close, threads), true);
    }
}
