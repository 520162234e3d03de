package io.syncguard.memory;

import io.syncguard.BackendInfo;
import io.syncguard.ForcedRelease;
import io.syncguard.LockPage;
import io.syncguard.LockQuery;
import io.syncguard.LockStatus;
import io.syncguard.RawLockInfo;
import io.syncguard.rules.JointDecision;
import io.syncguard.rules.KeyRules;
import io.syncguard.rules.KeyState;
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
    private final KeyRules rules;
    private final Function<AcquireRequest, @Nullable AcquireResult> interceptor;

    /** The answers of the interceptor to requests that are sent again, alone. */
    private final Map<String, AcquireResult> refused = new ConcurrentHashMap<>();

    private final WaitingProcess process;

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
        this.rules = store.rules();
        this.interceptor = interceptor;
        this.process = store.newProcess();
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
        return intercepted == null
                ? store.step(request.key(), (key, now) -> rules.acquire(key, request, process.channel(), now))
                : intercepted;
    }

    @Override
    public JointResult acquireTogether(List<AcquireRequest> requests, JointExtent extent) {
        return store.call(() -> {
            JointResult.Refusal blocked =
                    together(requests, JointExtent.NOTHING).refusal();
            int asked = blocked == null ? requests.size() : blocked.position() + 1;
            for (int i = 0; i < asked; i++) {
                if (interceptor.apply(requests.get(i)) instanceof AcquireResult.Refused answer) {
                    return intercepted(requests, i, answer, extent);
                }
            }
            return together(requests, extent);
        });
    }

    /** The interceptor refuses the request at this position, and the keys of those in front of it are free. */
    private JointResult intercepted(
            List<AcquireRequest> requests, int position, AcquireResult.Refused answer, JointExtent extent) {
        List<AcquireRequest> inFront = List.of();
        if (extent == JointExtent.IN_FRONT) {
            refused.put(requests.get(position).lockId(), answer);
            inFront = requests.subList(0, position);
        }
        return new JointResult(together(inFront, extent).grants(), new JointResult.Refusal(position, answer));
    }

    private JointResult together(List<AcquireRequest> requests, JointExtent extent) {
        List<KeyState> keys =
                requests.stream().map(request -> store.state(request.key())).toList();
        JointDecision decision = rules.acquireTogether(keys, requests, extent, store.now());
        decision.grants().forEach(store::done);
        return decision.answer();
    }

    @Override
    public ReleaseResult release(KeyedLockId id) {
        return store.step(id, (key, now) -> rules.handOver(key, id.lockId(), process.channel(), now));
    }

    @Override
    public ReleaseResult releaseAfter(KeyedLockId id, Duration held) {
        return store.step(id, (key, now) -> rules.releaseAfter(key, id.lockId(), held, now));
    }

    @Override
    public List<ReleaseResult> releaseAll(List<KeyedLockId> ids) {
        return store.call(() -> ids.stream()
                .map(id -> store.step(id, (key, now) -> rules.release(key, id.lockId(), now)))
                .toList());
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
        return store.step(id, (key, now) -> rules.renewWaiter(key, id.lockId(), now));
    }

    @Override
    public Duration waiterTtl() {
        return rules.waiterTtl();
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
        return store.step(id(request), (key, now) -> rules.extend(key, request, now));
    }

    @Override
    public ExtendResult rotate(ExtendRequest request) {
        return store.step(id(request), (key, now) -> rules.rotate(key, request, now));
    }

    private static KeyedLockId id(ExtendRequest request) {
        return new KeyedLockId(request.key(), request.lockId());
    }

    @Override
    public boolean isLocked(String key) {
        return !lookup(key).isEmpty();
    }

    @Override
    public List<RawLockInfo> lookup(String key) {
        return store.read(key, KeyState::lookup);
    }

    @Override
    public Optional<RawLockInfo> lookupById(KeyedLockId id) {
        return store.call(() -> lookup(store.keyOf(id)).stream()
                .filter(lease -> lease.lockId().equals(id.lockId()))
                .findFirst());
    }

    @Override
    public LockPage list(LockQuery query) {
        return store.call(() -> LockPage.of(
                store.used()
                        .filter(key ->
                                key.key().startsWith(query.prefix()) && BY_BYTES.compare(key.key(), query.after()) > 0)
                        .sorted(Comparator.comparing(KeyState::key, BY_BYTES))
                        .flatMap(key -> key.status(store.now()).stream())
                        .limit(query.limit() + 1L)
                        .toList(),
                query.limit()));
    }

    @Override
    public Optional<LockStatus> status(String key) {
        return store.read(key, KeyState::status);
    }

    @Override
    public ForcedRelease forceRelease(String key) {
        return store.step(key, rules::forceRelease);
    }

    @Override
    public Duration inDoubtPeriod() {
        return Duration.ofSeconds(5);
    }

    @Override
    public void close() {}
}
