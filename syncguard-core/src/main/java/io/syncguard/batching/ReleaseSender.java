package io.syncguard.batching;

import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.Answers;
import io.syncguard.spi.LockBackend;
import io.syncguard.spi.ReleaseRequest;
import io.syncguard.spi.ReleaseResult;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Sends releases. One that is sent alone takes waiting acquire requests for its key along. */
final class ReleaseSender implements CallerSender<ReleaseRequest, ReleaseResult> {

    private static final String ANY_GROUP = "";

    /** How many characters of a lock id may be a hash of its key. */
    private static final int HASH_LENGTH = 2;

    private final LockBackend store;

    /** Where acquire requests wait. */
    private final Batcher<AcquireRequest, AcquireResult> acquires;

    ReleaseSender(LockBackend store, Batcher<AcquireRequest, AcquireResult> acquires) {
        this.store = store;
        this.acquires = acquires;
    }

    @Override
    public LockBackend store() {
        return store;
    }

    @Override
    public Object keyOf(ReleaseRequest request) {
        String key = request.id().key();
        String lockId = request.id().lockId();
        return key == null ? lockId.substring(0, Math.min(HASH_LENGTH, lockId.length())) : key;
    }

    @Override
    public Object groupOf(ReleaseRequest request) {
        return ANY_GROUP;
    }

    @Override
    public CompletionStage<List<ReleaseResult>> send(List<ReleaseRequest> requests) {
        return store.release(
                requests.stream().map(ReleaseRequest::withoutWaiting).toList());
    }

    @Override
    public ReleaseResult sendAlone(ReleaseRequest request) {
        if (request.id().key() == null || isOnVirtualThread()) {
            return alone(request);
        }
        TakenRequests<AcquireRequest, AcquireResult> queueing = acquires.takeAlong(
                each -> isQueueing(each) && each.key().equals(request.id().key()));
        return queueing.isEmpty()
                ? alone(request)
                : queueing.send(
                        requests -> alone(request.after(requests)),
                        result -> Collections.nCopies(queueing.size(), queued(result)));
    }

    private ReleaseResult alone(ReleaseRequest request) {
        return Answers.awaitOnly(() -> store.release(List.of(request)));
    }

    /** After a release, the next lease ends one waiter ttl from now at the earliest. */
    private @Nullable AcquireResult queued(ReleaseResult result) {
        if (!result.entered()) {
            return null;
        }
        boolean released = result.outcome() == ReleaseResult.Outcome.RELEASED;
        return new AcquireResult.Queued(released ? store.info().waiterTtl() : Duration.ZERO, null);
    }

    /**
     * On a virtual thread, an interrupt of the caller closes the connection. Requests of others on it would fail, too.
     */
    private static boolean isOnVirtualThread() {
        return "VirtualThreads".equals(Thread.currentThread().getThreadGroup().getName());
    }

    /** Whether the request gets a queue entry unless it is granted. */
    private static boolean isQueueing(AcquireRequest request) {
        return request.waiterNumber() != null && !request.queued();
    }

    @Override
    public boolean isUndecided(ReleaseResult answer) {
        return answer.outcome() == ReleaseResult.Outcome.UNDECIDED;
    }

    @Override
    public String doing(ReleaseRequest request) {
        return "releasing a lock";
    }
}
