package io.syncguard.memory;

import io.syncguard.BackendInfo;
import io.syncguard.ForcedRelease;
import io.syncguard.LockPage;
import io.syncguard.LockQuery;
import io.syncguard.LockStatus;
import io.syncguard.RawLockInfo;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ExtendRequest;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.JointExtent;
import io.syncguard.spi.JointResult;
import io.syncguard.spi.KeyedLockId;
import io.syncguard.spi.LockBackend;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.spi.WakeUpListener;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One process on an {@link InMemoryStore}, for tests. Several backends may share one store, as processes share a
 * database. Thread-safe.
 */
public final class InMemoryLockBackend implements LockBackend {

    private static final Comparator<String> BY_BYTES =
            Comparator.comparing(key -> key.getBytes(StandardCharsets.UTF_8), Arrays::compareUnsigned);

    private final InMemoryStore store;
    private final Function<AcquireRequest, @Nullable AcquireResult> interceptor;

    /** The answers of the interceptor to requests that are sent again, alone. */
    private final Map<String, AcquireResult> refused = new ConcurrentHashMap<>();

    private final WaitingProcess process = new WaitingProcess();

    /** Makes a backend with a store of its own. */
    public InMemoryLockBackend() {
        this(new InMemoryStore());
    }

    public InMemoryLockBackend(InMemoryStore store) {
        this(store, request -> null);
    }

    /**
     * @param interceptor answers acquire requests of this process in place of the store, or throws; {@code null} leaves
     *     the answer to the store
     */
    public InMemoryLockBackend(InMemoryStore store, Function<AcquireRequest, @Nullable AcquireResult> interceptor) {
        this.store = store;
        this.interceptor = interceptor;
    }

    /** Whether wake-ups arrive in this process from now on. The engine is not notified of the change. */
    public void deliverWakeUps(boolean delivers) {
        process.deliverWakeUps(delivers);
    }

    @Override
    public String name() {
        return "memory";
    }

    @Override
    public BackendInfo info() {
        return new BackendInfo(name(), true, BackendInfo.Clock.PROCESS);
    }

    @Override
    public AcquireResult acquire(AcquireRequest request) {
        AcquireResult earlier = refused.remove(request.lockId());
        AcquireResult intercepted = earlier == null ? interceptor.apply(request) : earlier;
        return intercepted == null ? store.with(request.key(), key -> key.acquire(request, process)) : intercepted;
    }

    @Override
    public JointResult acquireTogether(List<AcquireRequest> requests, JointExtent extent) {
        return store.call(() -> {
            for (int i = 0; i < requests.size(); i++) {
                AcquireResult.Refused refusal = refusal(requests.get(i), extent);
                if (refusal != null) {
                    List<AcquireRequest> inFront = extent == JointExtent.IN_FRONT ? requests.subList(0, i) : List.of();
                    return new JointResult(granted(inFront), new JointResult.Refusal(i, refusal));
                }
            }
            return new JointResult(granted(extent == JointExtent.NOTHING ? List.of() : requests), null);
        });
    }

    private AcquireResult.@Nullable Refused refusal(AcquireRequest request, JointExtent extent) {
        if (interceptor.apply(request) instanceof AcquireResult.Refused answer) {
            if (extent == JointExtent.IN_FRONT) {
                refused.put(request.lockId(), answer);
            }
            return answer;
        }
        return store.<AcquireResult.@Nullable Refused>with(request.key(), key -> key.refusal(request));
    }

    /** The leases of requests that cannot be refused. */
    private List<AcquireResult.Granted> granted(List<AcquireRequest> requests) {
        return requests.stream()
                .map(request -> (AcquireResult.Granted) store.with(request.key(), key -> key.acquire(request, process)))
                .toList();
    }

    @Override
    public ReleaseResult release(KeyedLockId id) {
        return release(id.lockId(), process);
    }

    @Override
    public ReleaseResult releaseAfter(KeyedLockId id, Duration held) {
        return store.withLockId(id.lockId(), key -> key.releaseAfter(id.lockId(), held), ReleaseResult.NOT_FOUND);
    }

    @Override
    public List<ReleaseResult> releaseAll(List<KeyedLockId> ids) {
        return store.call(
                () -> ids.stream().map(id -> release(id.lockId(), null)).toList());
    }

    @Override
    public List<Duration> renewWaiters(List<KeyedLockId> ids) {
        return store.call(() -> {
            // A look depends on the entries in front, which may be renewed after it.
            ids.forEach(this::renewWaiter);
            return ids.stream().map(this::renewWaiter).toList();
        });
    }

    private Duration renewWaiter(KeyedLockId id) {
        return store.withLockId(id.lockId(), key -> key.renewWaiter(id.lockId()), Duration.ZERO);
    }

    @Override
    public Duration waiterTtl() {
        return store.waiterTtl();
    }

    @Override
    public void connect(WakeUpListener listener) {
        process.connect(listener);
    }

    @Override
    public boolean isConnected() {
        return process.deliversWakeUps();
    }

    @Override
    public List<ExtendResult> extend(List<ExtendRequest> requests) {
        return store.call(() -> requests.stream().map(this::extend).toList());
    }

    @Override
    public ExtendResult extend(ExtendRequest request) {
        return store.withLockId(request.lockId(), key -> key.extend(request), new ExtendResult.NotFound());
    }

    @Override
    public ExtendResult rotate(ExtendRequest request) {
        return store.withLockId(request.lockId(), key -> key.rotate(request), new ExtendResult.NotFound());
    }

    @Override
    public boolean isLocked(String key) {
        return !lookup(key).isEmpty();
    }

    @Override
    public List<RawLockInfo> lookup(String key) {
        return store.with(key, stored -> stored.leases().lookup(store.now()));
    }

    @Override
    public Optional<RawLockInfo> lookupById(KeyedLockId id) {
        return store.withLockId(
                id.lockId(), key -> key.leases().lookupById(id.lockId(), store.now()), Optional.empty());
    }

    @Override
    public LockPage list(LockQuery query) {
        return store.call(() -> LockPage.of(
                store.keys()
                        .filter(stored -> stored.key().startsWith(query.prefix())
                                && BY_BYTES.compare(stored.key(), query.after()) > 0)
                        .sorted(Comparator.comparing(StoredKey::key, BY_BYTES))
                        .flatMap(stored -> stored.status().stream())
                        .limit(query.limit() + 1L)
                        .toList(),
                query.limit()));
    }

    @Override
    public Optional<LockStatus> status(String key) {
        return store.with(key, StoredKey::status);
    }

    @Override
    public ForcedRelease forceRelease(String key) {
        return store.with(key, StoredKey::forceRelease);
    }

    @Override
    public Duration inDoubtPeriod() {
        return Duration.ofSeconds(5);
    }

    @Override
    public void close() {}

    private ReleaseResult release(String lockId, @Nullable WaitingProcess releasing) {
        return store.withLockId(lockId, key -> key.release(lockId, releasing), ReleaseResult.NOT_FOUND);
    }
}
