package io.syncguard.core;

import io.syncguard.Fence;
import io.syncguard.ForcedRelease;
import io.syncguard.LockPage;
import io.syncguard.LockQuery;
import io.syncguard.LockStatus;
import io.syncguard.LockSummary;
import io.syncguard.RawLockInfo;
import io.syncguard.concurrent.Time;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ExtendRequest;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.ForwardingBackend;
import io.syncguard.spi.GrantExtent;
import io.syncguard.spi.KeyedLockId;
import io.syncguard.spi.LockBackend;
import io.syncguard.spi.LockDirectory;
import io.syncguard.spi.ReleaseRequest;
import io.syncguard.spi.ReleaseResult;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Stands in front of a store, and notes for operators which of its servers answer, and how fast. Thread-safe. */
final class WatchedBackend extends ForwardingBackend {

    /** The number of no server: a look of operators may ask all of them. */
    private static final int DIRECTORY = -1;

    private final StoreContact contact;
    private final StoreRequests requests;
    private final Time time;

    WatchedBackend(LockBackend store, StoreContact contact, StoreRequests requests, Time time) {
        super(store);
        this.contact = contact;
        this.requests = requests;
        this.time = time;
    }

    @Override
    public CompletionStage<List<AcquireResult>> acquire(List<AcquireRequest> requests, GrantExtent extent) {
        return watched(StoreOperation.ACQUIRE, requests.get(0).lockId(), () -> super.acquire(requests, extent));
    }

    @Override
    public CompletionStage<List<ReleaseResult>> release(List<ReleaseRequest> requests) {
        return watched(StoreOperation.RELEASE, requests.get(0).id().lockId(), () -> super.release(requests));
    }

    @Override
    public CompletionStage<List<ExtendResult>> extend(List<ExtendRequest> requests) {
        return watched(StoreOperation.EXTEND, requests.get(0).id().lockId(), () -> super.extend(requests));
    }

    @Override
    public CompletionStage<List<Duration>> renew(List<KeyedLockId> entries) {
        return watched(StoreOperation.RENEW, entries.get(0).lockId(), () -> super.renew(entries));
    }

    @Override
    public LockDirectory directory() {
        return new WatchedDirectory(super.directory());
    }

    /** Returns the stage of the store itself: a caller may cancel it. */
    private <A> CompletionStage<A> watched(
            StoreOperation operation, String lockId, Supplier<CompletionStage<A>> request) {
        long sentAt = time.nanoTime();
        CompletionStage<A> answer;
        try {
            answer = request.get();
        } catch (Throwable ex) {
            ended(operation, sentAt, serverOf(lockId), ex);
            throw ex;
        }
        answer.whenComplete((result, failure) -> ended(operation, sentAt, serverOf(lockId), failure));
        return answer;
    }

    private void ended(StoreOperation operation, long sentAt, int server, @Nullable Throwable failure) {
        Throwable cause =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        requests.ended(operation, time.nanoTime() - sentAt, cause);
        if (cause == null) {
            contact.answered(server);
        } else {
            contact.failed(server, cause);
        }
    }

    private final class WatchedDirectory implements LockDirectory {

        private final LockDirectory directory;

        WatchedDirectory(LockDirectory directory) {
            this.directory = directory;
        }

        @Override
        public boolean isLocked(String key) {
            return looked(() -> directory.isLocked(key));
        }

        @Override
        public List<RawLockInfo> lookup(String key) {
            return looked(() -> directory.lookup(key));
        }

        @Override
        public Optional<RawLockInfo> lookupById(KeyedLockId id) {
            return looked(() -> directory.lookupById(id));
        }

        /** Asks all servers. */
        @Override
        public LockPage list(LockQuery query) {
            return lookedAtAll(() -> directory.list(query));
        }

        /** Asks all servers. */
        @Override
        public LockSummary summary() {
            return lookedAtAll(directory::summary);
        }

        @Override
        public Optional<LockStatus> status(String key) {
            return looked(() -> directory.status(key));
        }

        @Override
        public ForcedRelease forceRelease(String key, @Nullable Fence only) {
            return looked(() -> directory.forceRelease(key, only));
        }

        private <A> A lookedAtAll(Supplier<A> look) {
            A answer = looked(look);
            contact.answered();
            return answer;
        }

        private <A> A looked(Supplier<A> look) {
            long sentAt = time.nanoTime();
            try {
                A answer = look.get();
                ended(StoreOperation.LOOK, sentAt, DIRECTORY, null);
                return answer;
            } catch (Throwable ex) {
                ended(StoreOperation.LOOK, sentAt, DIRECTORY, ex);
                throw ex;
            }
        }
    }
}
