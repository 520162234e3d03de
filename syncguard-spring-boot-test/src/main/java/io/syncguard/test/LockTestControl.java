package io.syncguard.test;

import io.syncguard.Fence;
import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockLimits;
import io.syncguard.LockManager;
import io.syncguard.LockQuery;
import io.syncguard.LockRequest;
import io.syncguard.LockStatus;
import io.syncguard.concurrent.Time;
import io.syncguard.leader.LeaderElection;
import io.syncguard.memory.InMemoryLockBackend;
import io.syncguard.memory.InMemoryStore;
import io.syncguard.spi.AcquireOptions;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.Answers;
import io.syncguard.spi.FenceSource;
import io.syncguard.spi.GrantExtent;
import io.syncguard.spi.LockBackend;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.springframework.beans.factory.ObjectProvider;

/**
 * Controls the locks in memory of one application context: lets another process hold a lock, ends leases, refuses and
 * fails acquire requests, and returns who holds what. A bean in tests with {@code @AutoConfigureTestLocks}.
 * Thread-safe.
 *
 * <p>With two backends there are two of them, and the one of the second backend has its name as a qualifier:
 * {@code @Qualifier("redis") LockTestControl}.
 *
 * <p>Each method with a key throws an {@link io.syncguard.IllegalKeyException} if the key breaks the
 * {@linkplain LockLimits#key limits}.
 */
public final class LockTestControl {

    private static final String ELSEWHERE = "elsewhere";

    private final ObjectProvider<LockManager> managers;
    private final ObjectProvider<LeaderElection> elections;
    private final LongSupplier clock = wallClock();
    private final LockHistory history = new LockHistory();
    private final PlannedAnswers answers = new PlannedAnswers(this::isElection);

    /** Fences come from the clock, because a database that compares fences may outlive the context. */
    private final InMemoryStore store = new InMemoryStore(clock, FenceSource.CLOCK, history);

    private final LockBackend application = new InMemoryLockBackend(store, answers);
    private final LockBackend elsewhere = new InMemoryLockBackend(store);
    private final Queue<OtherHolder> otherHolders = new ConcurrentLinkedQueue<>();
    private final SecureRandom random = new SecureRandom();

    LockTestControl(ObjectProvider<LockManager> managers, ObjectProvider<LeaderElection> elections) {
        this.managers = managers;
        this.elections = elections;
    }

    /** Returns who holds the key and who waits for it. */
    public LockStatus status(String key) {
        String normalized = LockLimits.key(key);
        return application
                .directory()
                .status(normalized)
                .orElseGet(() -> new LockStatus(normalized, now(), List.of(), List.of(), 0));
    }

    /** Returns the keys that somebody holds or waits for: the first 1000, in the order of their bytes. */
    public List<LockStatus> locks() {
        return application
                .directory()
                .list(LockQuery.all().limit(LockQuery.MAX_LIMIT))
                .locks();
    }

    /**
     * Lets another process hold the key until the returned holder is released, or the test ends. Callers of the
     * application wait for the key or are refused, also on the thread of the test, which would join a lock of its own.
     *
     * @throws IllegalStateException if somebody holds the key already, or waits for it
     */
    public OtherHolder holdElsewhere(String key) {
        return holdElsewhere(LockRequest.of(key).owner(ELSEWHERE));
    }

    /**
     * Like {@link #holdElsewhere(String)}, in the mode and under the owner of this request. With a ttl, the lease
     * lapses like that of a process that died.
     *
     * @throws IllegalStateException if the request cannot be granted at once
     */
    public OtherHolder holdElsewhere(LockRequest request) {
        String lockId = newLockId();
        AcquireOptions options = new AcquireOptions(
                request.mode(),
                request.permits(),
                request.ttl() == null ? LockLimits.MAX_DURATION : request.ttl(),
                request.owner() == null ? ELSEWHERE : request.owner(),
                false);
        AcquireRequest acquisition = new AcquireRequest(request.key(), lockId, options);
        AcquireResult result = Answers.awaitOnly(() -> elsewhere.acquire(List.of(acquisition), GrantExtent.ONE));
        if (!(result instanceof AcquireResult.Granted)) {
            throw new IllegalStateException("Lock '" + request.key() + "' cannot be held elsewhere, because it is "
                    + LockDescriptions.of(status(request.key())));
        }
        OtherHolder holder = new OtherHolder(elsewhere, lockId);
        otherHolders.add(holder);
        return holder;
    }

    /**
     * Like {@link #holdElsewhere(LockRequest)}, with several leases, like an instance that holds some permits. After
     * {@code holdElsewhere(LockRequest.of("partner", "42").permits(5), 4)}, one of five permits is left.
     *
     * @param leases how many; none for 0 or less
     * @return one holder for each lease
     * @throws IllegalStateException if there is no room for all of them. Then none is held
     */
    public List<OtherHolder> holdElsewhere(LockRequest request, int leases) {
        List<OtherHolder> holders = new ArrayList<>();
        try {
            while (holders.size() < leases) {
                holders.add(holdElsewhere(request));
            }
            return holders;
        } catch (IllegalStateException ex) {
            holders.forEach(OtherHolder::release);
            throw ex;
        }
    }

    /**
     * Ends all leases of the key. When this returns, their holders have detected the loss as they would at their next
     * heartbeat: their bodies are interrupted, listeners are called, and each body ends with {@code LockLostException}.
     * Then the waiters for the key continue.
     *
     * @throws IllegalStateException if nobody holds the key
     */
    public void endLease(String key) {
        LockStatus status = status(key);
        if (status.holders().isEmpty()) {
            throw new IllegalStateException("Nobody holds lock '" + key + "'. " + LockDescriptions.held(locks()));
        }
        end(status.key());
    }

    /**
     * Like {@link #endLease(String)}, for one lease of a key that several hold, such as one of five permits. The lease
     * may also be held elsewhere.
     *
     * @param fence the fence of a handle, or of one of the {@linkplain LockStatus#holders holders} of {@link #status}
     * @throws IllegalStateException if nobody holds the key with this fence
     */
    public void endLease(String key, Fence fence) {
        LockStatus status = status(key);
        if (status.holders().stream().noneMatch(holder -> holder.fence().equals(fence))) {
            throw new IllegalStateException("Nobody holds lock '" + status.key() + "' with the fence " + fence
                    + ". It is " + LockDescriptions.of(status));
        }
        inform(store.revoke(status.key(), fence));
        store.free(status.key(), fence);
    }

    /**
     * Refuses the next acquire request for the key, as if another process held it. The caller does not get the key,
     * however long its wait time is. Each call refuses one request.
     */
    public void refuseNextAcquire(String key) {
        answers.plan(LockLimits.key(key), this::refusal);
    }

    /** Like {@link #refuseNextAcquire(String)}, for the next acquire request for any key, except those of elections. */
    public void refuseNextAcquire() {
        answers.plan(null, this::refusal);
    }

    /**
     * Fails the next acquire request for the key with a {@link LockBackendException} of this code, as if the server had
     * failed. Each call fails one request.
     */
    public void failNextAcquire(String key, LockErrorCode code) {
        answers.plan(LockLimits.key(key), failure(code));
    }

    /**
     * Like {@link #failNextAcquire(String, LockErrorCode)}, for the next acquire request for any key, except those of
     * elections.
     */
    public void failNextAcquire(LockErrorCode code) {
        answers.plan(null, failure(code));
    }

    /**
     * Ends all leases, also those of other processes, fails callers who still wait, and forgets plans and history.
     * Called after each test method. Elections and fences continue.
     */
    public void reset() {
        answers.clear();
        // First, so that no release hands a key over to a waiter.
        keysWithoutElections().forEach(this::dismissWaiters);
        for (OtherHolder holder = otherHolders.poll(); holder != null; holder = otherHolders.poll()) {
            holder.release();
        }
        keysWithoutElections().forEach(this::end);
        history.clear();
    }

    LockBackend backend() {
        return application;
    }

    LockHistory history() {
        return history;
    }

    private List<String> keysWithoutElections() {
        return store.usedKeys().stream().filter(key -> !isElection(key)).toList();
    }

    private void dismissWaiters(String key) {
        for (String lockId : store.queue(key)) {
            answers.dismiss(lockId);
            store.dismiss(lockId);
        }
    }

    /**
     * The key stays taken until its holders have detected the loss. Each detects it by an extension, as a heartbeat
     * does.
     */
    private void end(String key) {
        inform(store.revoke(key));
        store.free(key);
    }

    private void inform(List<String> lockIds) {
        for (String lockId : lockIds) {
            managers.stream(ObjectProvider.UNFILTERED)
                    .forEach(manager -> manager.extend(lockId, LockLimits.MAX_DURATION));
        }
    }

    private boolean isElection(String key) {
        return elections.stream(ObjectProvider.UNFILTERED)
                .flatMap(election -> election.members().stream())
                .anyMatch(member -> member.key().equals(key));
    }

    private AcquireResult refusal(AcquireRequest request) {
        return new AcquireResult.Refused(
                Duration.ofSeconds(1), new AcquireResult.Holder(ELSEWHERE, now(), true, false));
    }

    private static Function<AcquireRequest, AcquireResult> failure(LockErrorCode code) {
        return request -> {
            throw new LockBackendException(
                    code, "The test fails this acquire request for lock '" + request.key() + "'", null);
        };
    }

    private String newLockId() {
        byte[] bytes = new byte[16];
        random.nextBytes(bytes);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }

    private Instant now() {
        return Instant.ofEpochMilli(clock.getAsLong());
    }

    /** The time of day at the start, advanced by the monotonic clock. */
    private static LongSupplier wallClock() {
        long origin = System.currentTimeMillis() - Time.SYSTEM.nanoTime() / 1_000_000;
        return () -> origin + Time.SYSTEM.nanoTime() / 1_000_000;
    }
}
