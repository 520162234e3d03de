package io.syncguard.batching;

import io.syncguard.LockMode;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.Answers;
import io.syncguard.spi.GrantExtent;
import io.syncguard.spi.LockBackend;
import io.syncguard.spi.ReleaseRequest;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;

/** Sends acquire requests. */
final class AcquireSender implements CallerSender<AcquireRequest, AcquireResult> {

    private final LockBackend store;

    AcquireSender(LockBackend store) {
        this.store = store;
    }

    private record Group(LockMode mode, Duration timeout) {}

    @Override
    public LockBackend store() {
        return store;
    }

    @Override
    public Object keyOf(AcquireRequest request) {
        return request.key();
    }

    @Override
    public Object groupOf(AcquireRequest request) {
        return new Group(
                request.options().mode(), store.info().timeout(request.options().ttl()));
    }

    @Override
    public AcquireResult sendAlone(AcquireRequest request) {
        return Answers.awaitOnly(() -> store.acquire(List.of(request), GrantExtent.ONE));
    }

    @Override
    public CompletionStage<List<AcquireResult>> send(List<AcquireRequest> requests) {
        return store.acquire(requests, GrantExtent.EACH);
    }

    @Override
    public boolean isUndecided(AcquireResult answer) {
        return answer instanceof AcquireResult.Undecided;
    }

    /**
     * Also removes queue entries, because each would block those behind it until it lapses. Leaves out requests that
     * were queued before: their callers go on after an error, and may hold a lease with that lock id. The engine gives
     * it back.
     */
    @Override
    public void unclaimed(Map<AcquireRequest, AcquireResult> answers) {
        List<ReleaseRequest> releases = answers.entrySet().stream()
                .filter(answer -> !answer.getKey().queued() && !(answer.getValue() instanceof AcquireResult.Refused))
                .map(answer -> ReleaseRequest.waking(answer.getKey().keyedLockId()))
                .toList();
        if (!releases.isEmpty()) {
            Answers.await(() -> store.release(releases));
        }
    }

    @Override
    public String doing(AcquireRequest request) {
        return "acquiring lock '" + request.key() + "'";
    }
}
