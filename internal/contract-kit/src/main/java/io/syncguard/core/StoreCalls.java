package io.syncguard.core;

import io.syncguard.Fence;
import io.syncguard.ForcedRelease;
import io.syncguard.LockPage;
import io.syncguard.LockQuery;
import io.syncguard.LockStatus;
import io.syncguard.LockSummary;
import io.syncguard.RawLockInfo;
import io.syncguard.batching.BatchingBackend;
import io.syncguard.concurrent.Time;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.Answers;
import io.syncguard.spi.BlockingSession;
import io.syncguard.spi.ExtendRequest;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.ForwardingBackend;
import io.syncguard.spi.GrantExtent;
import io.syncguard.spi.KeyedLockId;
import io.syncguard.spi.LockBackend;
import io.syncguard.spi.ReleaseRequest;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.spi.WakeUpListener;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** One process on a store, whose requests a test sends one after the other and whose answers it awaits. */
public class StoreCalls extends ForwardingBackend {

    private BooleanSupplier wakeUps = () -> false;

    public StoreCalls(LockBackend store) {
        super(BatchingBackend.of(store, Time.SYSTEM));
    }

    public AcquireResult acquire(AcquireRequest request) {
        return Answers.awaitOnly(() -> acquire(List.of(request), GrantExtent.ONE));
    }

    public List<AcquireResult> acquireTogether(List<AcquireRequest> requests, GrantExtent extent) {
        return Answers.await(() -> acquire(requests, extent));
    }

    public ReleaseResult release(KeyedLockId id) {
        return Answers.awaitOnly(() -> release(List.of(ReleaseRequest.handingOver(id))));
    }

    public ReleaseResult release(String lockId) {
        return release(new KeyedLockId(lockId));
    }

    /** Releases the leases of one caller: alone what the store leaves undecided. */
    public List<ReleaseResult> releaseTogether(List<KeyedLockId> ids) {
        List<ReleaseResult> answers = new ArrayList<>(each(
                ids,
                ids,
                part -> release(part.stream().map(ReleaseRequest::handingOver).toList())));
        for (int i = 0; i < ids.size(); i++) {
            if (answers.get(i).outcome() == ReleaseResult.Outcome.UNDECIDED) {
                answers.set(i, release(ids.get(i)));
            }
        }
        return answers;
    }

    public ReleaseResult releaseAfter(KeyedLockId id, Duration held) {
        return Answers.awaitOnly(() -> release(List.of(ReleaseRequest.heldFor(id, held))));
    }

    public ReleaseResult releaseAfter(String lockId, Duration held) {
        return releaseAfter(new KeyedLockId(lockId), held);
    }

    /** Releases like the engine in the background. */
    public List<ReleaseResult> releaseAll(List<KeyedLockId> ids) {
        return each(
                ids,
                ids,
                part -> release(part.stream().map(ReleaseRequest::waking).toList()));
    }

    /** Extends like a heartbeat. */
    public List<ExtendResult> extendAll(List<ExtendRequest> requests) {
        return each(requests, requests.stream().map(ExtendRequest::id).toList(), this::extend);
    }

    public ExtendResult extend(ExtendRequest request) {
        return Answers.awaitOnly(() -> extend(List.of(of(request, ExtendRequest.Kind.HOLDER))));
    }

    public ExtendResult rotate(ExtendRequest request) {
        return Answers.awaitOnly(() -> extend(List.of(of(request, ExtendRequest.Kind.NEXT_FENCE))));
    }

    private static ExtendRequest of(ExtendRequest request, ExtendRequest.Kind kind) {
        return new ExtendRequest(request.id(), request.ttl(), kind);
    }

    public List<Duration> renewWaiters(List<KeyedLockId> ids) {
        return each(ids, ids, this::renew);
    }

    /** Sends to each server its part of the requests, and waits for all answers, as the engine does. */
    private <Q, A> List<A> each(
            List<Q> requests, List<KeyedLockId> ids, Function<List<Q>, CompletionStage<List<A>>> verb) {
        Map<Integer, List<Integer>> servers = IntStream.range(0, ids.size())
                .boxed()
                .collect(Collectors.groupingBy(i -> serverOf(ids.get(i).lockId())));
        Map<List<Integer>, CompletionStage<List<A>>> sent = new LinkedHashMap<>();
        servers.values()
                .forEach(indexes -> sent.put(
                        indexes, verb.apply(indexes.stream().map(requests::get).toList())));
        Map<Integer, A> answers = new TreeMap<>();
        sent.forEach((indexes, answer) -> {
            List<A> part = Answers.await(() -> answer);
            for (int i = 0; i < part.size(); i++) {
                answers.put(indexes.get(i), part.get(i));
            }
        });
        return new ArrayList<>(answers.values());
    }

    public boolean isConnected() {
        return wakeUps.getAsBoolean();
    }

    public Duration waiterTtl() {
        return info().waiterTtl();
    }

    public Duration inDoubtPeriod() {
        return info().inDoubtPeriod();
    }

    public List<BlockingSession> blockingSessions(String key) {
        return Objects.requireNonNull(pins()).blockingSessions(key);
    }

    public boolean isLocked(String key) {
        return directory().isLocked(key);
    }

    public List<RawLockInfo> lookup(String key) {
        return directory().lookup(key);
    }

    public Optional<RawLockInfo> lookupById(KeyedLockId id) {
        return directory().lookupById(id);
    }

    public Optional<RawLockInfo> lookupById(String lockId) {
        return lookupById(new KeyedLockId(lockId));
    }

    public LockPage list(LockQuery query) {
        return directory().list(query);
    }

    public LockSummary summary() {
        return directory().summary();
    }

    public Optional<LockStatus> status(String key) {
        return directory().status(key);
    }

    public ForcedRelease forceRelease(String key) {
        return directory().forceRelease(key, null);
    }

    public ForcedRelease forceRelease(String key, Fence only) {
        return directory().forceRelease(key, only);
    }

    @Override
    public BooleanSupplier connect(WakeUpListener listener) {
        wakeUps = super.connect(listener);
        return wakeUps;
    }
}
