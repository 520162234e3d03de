package io.syncguard.batching;

import io.syncguard.concurrent.Shielded;
import io.syncguard.concurrent.Time;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.Batching;
import io.syncguard.spi.ForwardingBackend;
import io.syncguard.spi.GrantExtent;
import io.syncguard.spi.LockBackend;
import io.syncguard.spi.ReleaseRequest;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.spi.StoreInfo;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Stands in front of a store, and lets acquire requests and releases of different callers share a request to it as its
 * {@link io.syncguard.spi.Batching} says. Thread-safe.
 */
public final class BatchingBackend extends ForwardingBackend {

    private final StoreInfo info;
    private final Batcher<AcquireRequest, AcquireResult> acquires;
    private final Batcher<ReleaseRequest, ReleaseResult> releases;

    private BatchingBackend(LockBackend store, Time time) {
        super(store);
        StoreInfo own = store.info();
        this.info = new StoreInfo(
                own.backend(), own.timeout(), own.waiterTtl(), own.inDoubtPeriod(), own.servers(), Batching.NONE);
        Batching batching = own.batching();
        Batcher.Limits limits = new Batcher.Limits(
                Math.max(1, batching.alone()), batching.size(), own.timeout(), batching.alone() == 0);
        this.acquires = new Batcher<>("syncguard-acquire-batch", new AcquireSender(store), limits, time);
        this.releases = new Batcher<>("syncguard-release-batch", new ReleaseSender(store, acquires), limits, time);
    }

    /** Returns the store itself if it takes no lists, or if it stands behind this class already. */
    public static LockBackend of(LockBackend store, Time time) {
        return store.info().batching().size() == 1 ? store : new BatchingBackend(store, time);
    }

    @Override
    public StoreInfo info() {
        return info;
    }

    @Override
    public CompletionStage<List<AcquireResult>> acquire(List<AcquireRequest> requests, GrantExtent extent) {
        return extent == GrantExtent.ONE
                ? CompletableFuture.completedFuture(List.of(acquires.send(requests.get(0))))
                : super.acquire(requests, extent);
    }

    @Override
    public CompletionStage<List<ReleaseResult>> release(List<ReleaseRequest> requests) {
        return requests.size() == 1 && requests.get(0).handsOver()
                ? CompletableFuture.completedFuture(List.of(releases.send(requests.get(0))))
                : super.release(requests);
    }

    /** Waits for lists that may grant locks to callers who have left. */
    @Override
    public void close() {
        Shielded.closeAll(releases, acquires, acquires::awaitLeft, super::close);
    }
}
