package io.syncguard.memory;

import io.syncguard.BackendInfo;
import io.syncguard.rules.KeyRules;
import io.syncguard.rules.KeyState;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.AcquireResult.Undecided;
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
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * One process on an {@link InMemoryStore}, for tests. Several backends may share one store, as processes share a
 * database. Thread-safe.
 */
public final class InMemoryLockBackend implements LockBackend {

    private static final BackendInfo MEMORY = new BackendInfo("memory", true, BackendInfo.Clock.PROCESS);
    private static final Duration TIMEOUT = Duration.ofSeconds(5);

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
    public StoreInfo info() {
        return new StoreInfo(MEMORY, TIMEOUT, rules.waiterTtl(), TIMEOUT, 1, Batching.NONE);
    }

    @Override
    public CompletionStage<List<AcquireResult>> acquire(List<AcquireRequest> requests, GrantExtent extent) {
        return CompletableFuture.completedFuture(
                store.call(() -> extent == GrantExtent.ONE || extent == GrantExtent.EACH
                        ? requests.stream().map(this::acquire).toList()
                        : acquireTogether(requests, extent)));
    }

    private AcquireResult acquire(AcquireRequest request) {
        AcquireResult earlier = refused.remove(request.lockId());
        AcquireResult intercepted = earlier == null ? interceptor.apply(request) : earlier;
        return intercepted == null
                ? store.step(request.key(), (key, now) -> rules.acquire(key, request, process.channel(), now))
                : intercepted;
    }

    private List<AcquireResult> acquireTogether(List<AcquireRequest> requests, GrantExtent extent) {
        List<AcquireResult> look = together(requests, GrantExtent.NOTHING);
        boolean isBlocked = false;
        for (int i = 0; i < requests.size() && !isBlocked; i++) {
            isBlocked = look.get(i) instanceof AcquireResult.Refused;
            if (interceptor.apply(requests.get(i)) instanceof AcquireResult.Refused answer) {
                return intercepted(requests, i, answer, extent);
            }
        }
        return together(requests, extent);
    }

    /** The interceptor refuses the request at this position, and the keys of those in front of it are free. */
    private List<AcquireResult> intercepted(
            List<AcquireRequest> requests, int position, AcquireResult.Refused answer, GrantExtent extent) {
        List<AcquireResult> answers = new ArrayList<>(Collections.nCopies(requests.size(), Undecided.UNDECIDED));
        answers.set(position, answer);
        if (extent == GrantExtent.IN_FRONT) {
            refused.put(requests.get(position).lockId(), answer);
            List<AcquireResult> inFront = together(requests.subList(0, position), extent);
            IntStream.range(0, position).forEach(i -> answers.set(i, inFront.get(i)));
        }
        return answers;
    }

    private List<AcquireResult> together(List<AcquireRequest> requests, GrantExtent extent) {
        List<KeyState> keys =
                requests.stream().map(request -> store.state(request.key())).toList();
        return rules.acquireTogether(keys, requests, extent, store.now()).stream()
                .map(store::done)
                .toList();
    }

    @Override
    public CompletionStage<List<ReleaseResult>> release(List<ReleaseRequest> requests) {
        return CompletableFuture.completedFuture(
                store.call(() -> requests.stream().map(this::release).toList()));
    }

    private ReleaseResult release(ReleaseRequest request) {
        String lockId = request.id().lockId();
        Duration held = request.heldFor();
        return store.step(
                request.id(),
                (key, now) -> held != null
                        ? rules.releaseAfter(key, lockId, held, now)
                        : request.handsOver()
                                ? rules.handOver(key, lockId, process.channel(), now)
                                : rules.release(key, lockId, now));
    }

    @Override
    public CompletionStage<List<ExtendResult>> extend(List<ExtendRequest> requests) {
        return CompletableFuture.completedFuture(
                store.call(() -> requests.stream().map(this::extend).toList()));
    }

    private ExtendResult extend(ExtendRequest request) {
        return store.step(
                request.id(),
                (key, now) -> request.kind() == ExtendRequest.Kind.NEXT_FENCE
                        ? rules.rotate(key, request, now)
                        : rules.extend(key, request, now));
    }

    @Override
    public CompletionStage<List<Duration>> renew(List<KeyedLockId> entries) {
        return CompletableFuture.completedFuture(store.call(() -> {
            // A look depends on the entries in front, which may be renewed after it.
            entries.forEach(this::renew);
            return entries.stream().map(this::renew).toList();
        }));
    }

    private Duration renew(KeyedLockId entry) {
        return store.step(entry, (key, now) -> rules.renewWaiter(key, entry.lockId(), now));
    }

    @Override
    public BooleanSupplier connect(WakeUpListener listener) {
        process.connect(listener);
        return process::deliversWakeUps;
    }

    @Override
    public LockDirectory directory() {
        return new InMemoryDirectory(store);
    }

    @Override
    public void close() {}
}
