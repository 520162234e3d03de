package io.syncguard.benchmarks;

import io.syncguard.BackendInfo;
import io.syncguard.Fence;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.Batching;
import io.syncguard.spi.ExtendRequest;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.GrantExtent;
import io.syncguard.spi.KeyedLockId;
import io.syncguard.spi.LockBackend;
import io.syncguard.spi.LockDirectory;
import io.syncguard.spi.ReleaseRequest;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.spi.StoreInfo;
import io.syncguard.spi.WakeUpListener;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;

/** Grants every request and stores nothing, so that a benchmark measures only the library. */
final class GrantingBackend implements LockBackend {

    private static final AcquireResult.Granted GRANT =
            new AcquireResult.Granted(new Fence(1), Instant.EPOCH, Instant.EPOCH);

    private static final StoreInfo INFO = new StoreInfo(
            new BackendInfo("granting", true, BackendInfo.Clock.PROCESS),
            Duration.ofSeconds(1),
            Duration.ofSeconds(5),
            Duration.ZERO,
            1,
            Batching.NONE);

    @Override
    public StoreInfo info() {
        return INFO;
    }

    @Override
    public CompletionStage<List<AcquireResult>> acquire(List<AcquireRequest> requests, GrantExtent extent) {
        return answers(requests, GRANT);
    }

    @Override
    public CompletionStage<List<ReleaseResult>> release(List<ReleaseRequest> requests) {
        return answers(requests, ReleaseResult.RELEASED);
    }

    @Override
    public CompletionStage<List<ExtendResult>> extend(List<ExtendRequest> requests) {
        return answers(requests, new ExtendResult.Extended(Instant.EPOCH));
    }

    @Override
    public CompletionStage<List<Duration>> renew(List<KeyedLockId> entries) {
        return answers(entries, Duration.ZERO);
    }

    private static <A> CompletionStage<List<A>> answers(List<?> requests, A answer) {
        return CompletableFuture.completedFuture(Collections.nCopies(requests.size(), answer));
    }

    @Override
    public BooleanSupplier connect(WakeUpListener wakeUps) {
        return () -> false;
    }

    @Override
    public LockDirectory directory() {
        throw new UnsupportedOperationException("Nothing is stored");
    }

    @Override
    public void close() {}
}
