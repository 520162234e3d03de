package io.syncguard.core;

import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ForwardingBackend;
import io.syncguard.spi.GrantExtent;
import io.syncguard.spi.LockBackend;
import io.syncguard.spi.ReleaseRequest;
import io.syncguard.spi.ReleaseResult;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Sends each request of a caller like one of a list, and alone what the store then leaves undecided: so the contracts
 * look at the statements for lists, too.
 */
public final class ListingBackend extends ForwardingBackend {

    public ListingBackend(LockBackend store) {
        super(store);
    }

    @Override
    public CompletionStage<List<AcquireResult>> acquire(List<AcquireRequest> requests, GrantExtent extent) {
        if (extent != GrantExtent.ONE) {
            return super.acquire(requests, extent);
        }
        return super.acquire(requests, GrantExtent.EACH)
                .thenCompose(answers -> answers.get(0) instanceof AcquireResult.Undecided
                        ? super.acquire(requests, extent)
                        : CompletableFuture.completedFuture(answers));
    }

    @Override
    public CompletionStage<List<ReleaseResult>> release(List<ReleaseRequest> requests) {
        if (requests.size() > 1 || !requests.get(0).handsOver()) {
            return super.release(requests);
        }
        return super.release(List.of(requests.get(0).withoutWaiting()))
                .thenCompose(answers -> answers.get(0).outcome() == ReleaseResult.Outcome.UNDECIDED
                        ? super.release(requests)
                        : CompletableFuture.completedFuture(answers));
    }
}
