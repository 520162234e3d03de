package io.syncguard.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.LockHandle;
import io.syncguard.LockInfo;
import io.syncguard.LockLostException;
import io.syncguard.LockMode;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.RawLockInfo;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ExtendRequest;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.GrantExtent;
import io.syncguard.spi.Hashes;
import io.syncguard.spi.KeyedLockId;
import io.syncguard.spi.LockBackend;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.testing.BugOf;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The guarantees of every backend, independent of its store. A {@link ContractStoreProvider} provides the store, empty
 * for each test.
 */
public abstract class LockBackendContract {

    private static final Duration TTL = ContractFixture.TTL;
    private static final String KEY = "order:42";

    private final LockIds lockIds = new LockIds();
    private final List<StoreCalls> opened = new ArrayList<>();

    private ContractStore store;
    private FenceOrder fences;
    private StoreCalls backend;

    @BeforeEach
    void openBackend(ContractStore empty) {
        store = empty;
        fences = new FenceOrder(empty);
        backend = open();
    }

    @AfterEach
    void closeBackends() {
        opened.forEach(StoreCalls::close);
    }

    @Test
    void says_what_it_is() {
        assertThat(backend.info().name()).isNotBlank();
        assertThat(backend.info().backend().hasFences()).isTrue();
    }

    @Test
    void grants_a_free_key_with_the_first_fence() {
        AcquireResult.Granted grant = grant(request(KEY));

        assertThat(grant.fence()).is(fences.nth(KEY, 1));
        assertThat(Duration.between(grant.acquiredAt(), grant.expiresAt())).isEqualTo(TTL);
        assertThat(store.storedFence(KEY)).isEqualTo(grant.fence().value());
    }

    @Test
    void refuses_a_key_whose_lease_is_live_and_says_how_long_it_may_take() {
        long began = System.nanoTime();
        AcquireResult.Granted grant = grant(request(KEY));

        AcquireResult attempt = open().acquire(request(KEY));

        assertThat(attempt)
                .isInstanceOfSatisfying(
                        AcquireResult.Refused.class,
                        refusal -> assertThat(refusal.timeLeft())
                                .as("the rest of the ttl and the tolerance")
                                .isBetween(
                                        TTL.plusMillis(LockBackend.TOLERANCE_MILLIS - 1)
                                                .minusNanos(System.nanoTime() - began),
                                        TTL.plusMillis(LockBackend.TOLERANCE_MILLIS)));
        assertThat(store.storedFence(KEY))
                .as("a refusal draws no fence")
                .isEqualTo(grant.fence().value());
    }

    @Test
    void refuses_a_second_try_of_the_same_process_as_well() {
        grant(request(KEY));

        assertThat(backend.acquire(request(KEY))).isInstanceOf(AcquireResult.Refused.class);
    }

    @Test
    void requests_of_several_callers_in_one_list_are_decided_each_by_itself_or_left_undecided() {
        grant(request("taken"));
        List<AcquireRequest> requests = List.of(request("a"), request("taken"), request("b"));

        List<AcquireResult> answers = backend.acquireTogether(requests, GrantExtent.EACH);

        assertThat(answers).hasSize(3);
        assertThat(answers.get(1)).isInstanceOfAny(AcquireResult.Refused.class, AcquireResult.Undecided.class);
        for (int i : List.of(0, 2)) {
            assertThat(backend.isLocked(requests.get(i).key()))
                    .isEqualTo(answers.get(i) instanceof AcquireResult.Granted);
        }
    }

    @BugOf("distkit: a try that fails shortens somebody else's lease")
    @Test
    void a_refused_try_leaves_the_lease_in_its_way_as_it_is() {
        AcquireRequest request = request(KEY);
        grant(request);
        RawLockInfo before = only(backend.lookup(KEY));

        backend.acquire(Requests.exclusive(KEY, newLockId(KEY), Duration.ofMillis(300), "hasty"));

        assertThat(backend.lookup(KEY)).containsExactly(before);
    }

    @Test
    void keys_do_not_meet() {
        grant(request("a"));

        assertThat(grant(request("A")).fence()).is(fences.nth("A", 1));
        assertThat(grant(request("fence:a")).fence()).is(fences.nth("fence:a", 1));
        assertThat(grant(request(" a")).fence()).is(fences.nth(" a", 1));
    }

    @Test
    void keeps_keys_of_any_script_and_of_full_length_apart() {
        String long1 = "x".repeat(511) + "1";
        String long2 = "x".repeat(511) + "2";

        grant(request(long1));
        grant(request(long2));
        grant(request("заказ:42"));
        grant(request("\uD83D\uDD12'; DROP TABLE locks; --"));

        assertThat(backend.isLocked(long1)).isTrue();
        assertThat(backend.isLocked("\uD83D\uDD12'; DROP TABLE locks; --")).isTrue();
        assertThat(backend.isLocked("x".repeat(511))).isFalse();
    }

    @Test
    void a_released_key_is_granted_again_with_the_next_fence() {
        AcquireRequest first = request(KEY);
        assertThat(grant(first).fence()).is(fences.nth(KEY, 1));

        assertThat(backend.release(first.keyedLockId())).isEqualTo(ReleaseResult.RELEASED);

        assertThat(grant(request(KEY)).fence()).is(fences.nth(KEY, 2));
    }

    @Test
    void releases_once_and_for_the_holder_only() {
        AcquireRequest request = request(KEY);
        grant(request);

        assertThat(backend.release(newLockId(KEY))).isEqualTo(ReleaseResult.NOT_FOUND);
        assertThat(backend.isLocked(KEY)).isTrue();
        assertThat(backend.release(request.keyedLockId())).isEqualTo(ReleaseResult.RELEASED);
        assertThat(backend.release(request.keyedLockId())).isEqualTo(ReleaseResult.NOT_FOUND);
    }

    @Test
    void a_lapsed_key_is_granted_to_the_next_with_the_next_fence() {
        assertThat(grant(request(KEY)).fence()).is(fences.nth(KEY, 1));
        store.expire(KEY);

        assertThat(backend.isLocked(KEY)).isFalse();
        assertThat(grant(request(KEY)).fence()).is(fences.nth(KEY, 2));
    }

    @BugOf("ShedLock: the owner is the host name, so a stale holder frees the next holder's lock")
    @Test
    void the_release_of_a_stale_holder_leaves_the_next_holders_lock_alone() {
        AcquireRequest stale = request(KEY);
        grant(stale);
        store.expire(KEY);
        AcquireRequest next = request(KEY);
        grant(next);

        assertThat(backend.release(stale.keyedLockId())).isEqualTo(ReleaseResult.NOT_FOUND);

        assertThat(backend.lookupById(next.lockId())).isPresent();
    }

    @BugOf("Spring Integration, db-scheduler, Essentials: a renewal without a look at the expiry revives a lapsed"
            + " lease")
    @Test
    void a_lapsed_lease_is_neither_released_nor_revived() {
        AcquireRequest request = request(KEY);
        grant(request);
        store.expire(KEY);

        assertThat(extend(request, TTL)).isInstanceOf(ExtendResult.Expired.class);
        assertThat(backend.release(request.keyedLockId())).isEqualTo(ReleaseResult.EXPIRED);
        assertThat(backend.isLocked(KEY)).isFalse();
    }

    @BugOf("jeeware: heartbeat and unlock by key alone reach the next holder's lock")
    @Test
    void the_extension_of_a_stale_holder_leaves_the_next_holders_lease_alone() {
        AcquireRequest stale = request(KEY);
        grant(stale);
        store.expire(KEY);
        AcquireRequest next = request(KEY);
        AcquireResult.Granted grant = grant(next);

        assertThat(extend(stale, Duration.ofHours(1))).isInstanceOf(ExtendResult.NotFound.class);

        assertThat(only(backend.lookup(KEY)).expiresAt()).isEqualTo(grant.expiresAt());
    }

    @Test
    void an_extension_sets_a_new_end_and_keeps_fence_and_start() {
        AcquireRequest request = request(KEY);
        AcquireResult.Granted grant = grant(request);

        ExtendResult outcome = extend(request, Duration.ofHours(1));

        RawLockInfo info = only(backend.lookup(KEY));
        assertThat(outcome).isEqualTo(new ExtendResult.Extended(info.expiresAt()));
        assertThat(info.expiresAt()).isAfterOrEqualTo(grant.acquiredAt().plus(Duration.ofHours(1)));
        assertThat(info.acquiredAt()).isEqualTo(grant.acquiredAt());
        assertThat(info.fence()).isEqualTo(grant.fence());
    }

    @Test
    void an_extension_may_shorten() {
        AcquireRequest request = request(KEY);
        AcquireResult.Granted grant = grant(request);

        extend(request, Duration.ofSeconds(10));

        assertThat(only(backend.lookup(KEY)).expiresAt()).isBefore(grant.expiresAt());
    }

    @Test
    void many_extensions_are_answered_one_by_one_and_in_order() {
        List<AcquireRequest> requests =
                IntStream.range(0, 1000).mapToObj(i -> request("k" + i)).toList();
        requests.forEach(this::grant);
        store.expire("k10");
        backend.release(requests.get(500).keyedLockId());

        List<ExtendResult> outcomes = backend.extendAll(requests.stream()
                .map(request -> Requests.extension(request.key(), request.lockId(), TTL))
                .toList());

        assertThat(outcomes).hasSize(1000);
        assertThat(IntStream.range(0, 1000).filter(i -> outcomes.get(i) instanceof ExtendResult.Expired))
                .containsExactly(10);
        assertThat(IntStream.range(0, 1000).filter(i -> outcomes.get(i) instanceof ExtendResult.NotFound))
                .containsExactly(500);
        assertThat(IntStream.range(0, 1000).filter(i -> outcomes.get(i) instanceof ExtendResult.Extended))
                .hasSize(998);
    }

    @Test
    void looks_up_by_key_and_by_lock_id() {
        AcquireRequest request = request(KEY);
        AcquireResult.Granted grant = grant(request);

        assertThat(backend.lookup(KEY))
                .containsExactly(backend.lookupById(request.lockId()).orElseThrow())
                .containsExactly(new RawLockInfo(
                        KEY,
                        request.lockId(),
                        LockMode.EXCLUSIVE,
                        grant.acquiredAt(),
                        grant.expiresAt(),
                        grant.fence(),
                        "test"));
    }

    @Test
    void people_are_shown_hashes_of_key_and_lock_id() {
        AcquireRequest request = request(KEY);
        AcquireResult.Granted grant = grant(request);
        try (LockEngine engine =
                new LockEngine(store.newBackend(), DefaultSettings.of("test"), TransactionBoundary.NONE, List.of())) {
            LockInfo info = engine.admin().lookup(KEY).orElseThrow();

            assertThat(info)
                    .isEqualTo(new LockInfo(
                            Hashes.abbreviated(KEY),
                            Hashes.abbreviated(request.lockId()),
                            LockMode.EXCLUSIVE,
                            grant.acquiredAt(),
                            grant.expiresAt(),
                            grant.fence(),
                            "test"))
                    .isEqualTo(engine.admin().lookupById(request.lockId()).orElseThrow());
            assertThat(engine.admin().holders(KEY)).containsExactly(info);
            assertThat(info.keyHash()).matches("[0-9a-f]{24}");
            assertThat(info.toString()).doesNotContain(KEY, request.lockId());
        }
    }

    @Test
    void the_debug_lookup_shows_key_and_lock_id_and_its_text_keeps_the_secret() {
        AcquireRequest request = request(KEY);
        grant(request);
        try (LockEngine engine =
                new LockEngine(store.newBackend(), DefaultSettings.of("test"), TransactionBoundary.NONE, List.of())) {
            RawLockInfo raw = engine.admin().debugLookupById(request.lockId()).orElseThrow();

            assertThat(raw.key()).isEqualTo(KEY);
            assertThat(raw.lockId()).isEqualTo(request.lockId());
            assertThat(engine.admin().debugLookup(KEY)).containsExactly(raw);
            assertThat(engine.admin().debugLookup("another")).isEmpty();
            assertThat(raw.toString()).contains(KEY).doesNotContain(request.lockId());
        }
    }

    @Test
    void a_transaction_that_worked_under_a_lost_lock_cannot_commit_although_the_key_is_held_again() {
        List<GuardedLease> bound = new ArrayList<>();
        List<Runnable> ends = new ArrayList<>();
        LockRequest request = LockRequest.of(KEY).noHeartbeat();
        try (LockEngine engine = new LockEngine(
                store.newBackend(),
                DefaultSettings.of("test"),
                (lease, end) -> bound.add(lease) && ends.add(end) ? 1 : 0,
                List.of())) {
            LockHandle lost = engine.acquire(request);
            store.expire(KEY);
            assertThat(lost.extend(TTL)).isFalse();
            assertThat(lost.release()).isFalse();
            LockHandle again = engine.acquire(request);

            assertThatThrownBy(bound.get(0)::requireHeld).isInstanceOf(LockLostException.class);
            again.release();
            // Otherwise the engine would wait for the end of the body.
            ends.forEach(Runnable::run);
        }
    }

    @Test
    void finds_nothing_where_nothing_is_live() {
        AcquireRequest request = request(KEY);
        grant(request);
        store.expire(KEY);

        assertThat(backend.lookup(KEY)).isEmpty();
        assertThat(backend.lookupById(request.lockId())).isEmpty();
        assertThat(backend.lookup("never seen")).isEmpty();
        assertThat(backend.lookupById(newLockId(KEY))).isEmpty();
    }

    @Test
    void a_lease_of_a_millisecond_keeps_others_out_for_the_tolerance() {
        grant(Requests.exclusive(KEY, newLockId(KEY), Duration.ofMillis(1), "test"));

        assertThat(backend.acquire(request(KEY))).isInstanceOf(AcquireResult.Refused.class);
    }

    /** Compares the times of both grants, which come from the server's clock. */
    @Test
    void a_lock_that_is_to_be_held_at_least_for_a_time_is_the_next_ones_when_that_is_over() throws Exception {
        Duration atLeast = Duration.ofMillis(300);
        try (LockEngine here = newEngine();
                LockEngine there = newEngine()) {
            LockHandle lock = here.acquire(LockRequest.of(KEY).holdAtLeast(atLeast));
            Instant granted = only(here.admin().debugLookup(KEY)).acquiredAt();
            FutureTask<LockHandle> waiter = EngineFixture.inAnotherThread(() -> there.acquire(LockRequest.of(KEY)));

            assertThat(lock.release()).isTrue();

            LockHandle next = EngineFixture.got(waiter);
            assertThat(only(there.admin().debugLookup(KEY)).acquiredAt())
                    .isBetween(
                            granted.plus(atLeast), granted.plus(atLeast).plusMillis(LockBackend.TOLERANCE_MILLIS - 1));
            // A held lock delays the end of its engine.
            next.release();
        }
    }

    private LockEngine newEngine() {
        return new LockEngine(store.newBackend(), DefaultSettings.of("test"), TransactionBoundary.NONE, List.of());
    }

    @Test
    void of_many_who_try_a_new_key_at_once_one_is_granted() throws Exception {
        List<Callable<AcquireResult>> tries = IntStream.range(0, 50)
                .<Callable<AcquireResult>>mapToObj(i -> () -> backend.acquire(request("new")))
                .toList();

        List<AcquireResult> attempts = inParallel(16, tries);

        assertThat(attempts)
                .filteredOn(AcquireResult.Granted.class::isInstance)
                .singleElement()
                .isInstanceOfSatisfying(AcquireResult.Granted.class, grant -> {
                    assertThat(grant.fence()).is(fences.nth("new", 1));
                    assertThat(store.storedFence("new")).isEqualTo(grant.fence().value());
                });
    }

    /** The counter is not synchronised: only the lock makes its sum correct and its updates visible. */
    @Test
    void many_threads_of_several_processes_add_to_an_unprotected_counter_and_none_is_lost() throws Exception {
        int threads = 12;
        int rounds = 25;
        int[] counter = new int[1];
        List<Long> seen = Collections.synchronizedList(new ArrayList<>());
        List<LockEngine> engines = IntStream.range(0, 3)
                .mapToObj(i -> new LockEngine(
                        store.newBackend(), DefaultSettings.of("test"), TransactionBoundary.NONE, List.of()))
                .toList();
        LockRequest request = LockRequest.of("counter").waitTime(Duration.ofMinutes(1));

        inParallel(
                threads,
                IntStream.range(0, threads)
                        .<Callable<Void>>mapToObj(thread -> () -> {
                            LockTemplate locks = new LockTemplate(engines.get(thread % engines.size()));
                            for (int round = 0; round < rounds; round++) {
                                locks.executeWithoutResult(request, lock -> {
                                    int read = counter[0];
                                    seen.add(lock.fence().value());
                                    Thread.yield();
                                    counter[0] = read + 1;
                                });
                            }
                            return null;
                        })
                        .toList());
        engines.forEach(LockEngine::close);

        assertThat(counter[0]).isEqualTo(threads * rounds);
        assertThat(seen).hasSize(threads * rounds).isSorted().doesNotHaveDuplicates();
    }

    static Stream<Arguments> requestsByLockId() {
        Duration half = TTL.dividedBy(2);
        return Stream.of(
                byLockId("release", (store, ids) -> each(ids, store::release)),
                byLockId("releaseAfter", (store, ids) -> each(ids, id -> store.releaseAfter(id, half))),
                byLockId("releaseTogether", StoreCalls::releaseTogether),
                byLockId("releaseAll", StoreCalls::releaseAll),
                byLockId("renewWaiters", StoreCalls::renewWaiters),
                byLockId("extend", (store, ids) -> each(ids, id -> store.extend(extension(id)))),
                byLockId("rotate", (store, ids) -> each(ids, id -> store.rotate(extension(id)))),
                byLockId("extend many", (store, ids) -> store.extendAll(each(ids, LockBackendContract::extension))),
                byLockId("lookupById", (store, ids) -> each(ids, store::lookupById)));
    }

    private static Arguments byLockId(String name, BiFunction<StoreCalls, List<KeyedLockId>, List<?>> send) {
        return Arguments.of(name, send);
    }

    private static <A> List<A> each(List<KeyedLockId> ids, Function<KeyedLockId, A> send) {
        return ids.stream().map(send).toList();
    }

    private static ExtendRequest extension(KeyedLockId id) {
        return Requests.extension(id.key(), id.lockId(), TTL);
    }

    /** Another process sends both in one request if the operation takes many. */
    @ParameterizedTest(name = "{0}")
    @MethodSource("requestsByLockId")
    void a_lock_id_alone_has_the_same_answer_as_with_its_key(
            String name, BiFunction<StoreCalls, List<KeyedLockId>, List<?>> send) {
        StoreCalls elsewhere = open();
        Map<String, Function<String, AcquireRequest>> states = Map.of(
                "never granted", this::request,
                "held", key -> held(request(key)),
                "lapsed",
                        key -> {
                            AcquireRequest lapsed = held(request(key));
                            store.expireLease(lapsed.lockId());
                            return lapsed;
                        },
                "held and wanted",
                        key -> {
                            AcquireRequest holder = held(request(key));
                            queued(request(key));
                            return holder;
                        },
                "shared", key -> held(Requests.shared(key, newLockId(key), TTL, "test")),
                "queued",
                        key -> {
                            held(request(key));
                            return queued(request(key));
                        });
        states.forEach((state, begin) -> {
            AcquireRequest keyed = begin.apply(state + " by key");
            AcquireRequest alone = begin.apply(state + " alone");

            List<?> answers = send.apply(elsewhere, List.of(keyed.keyedLockId(), new KeyedLockId(alone.lockId())));

            assertThat(kind(answers.get(1))).as(state).isEqualTo(kind(answers.get(0)));
            assertThat(holdersAndWaiters(alone.key())).as(state).isEqualTo(holdersAndWaiters(keyed.key()));
        });
    }

    /** The part of an answer that does not depend on the time. */
    private static Object kind(Object answer) {
        if (answer instanceof List<?> many) {
            return kind(many.get(0));
        }
        if (answer instanceof Optional<?> lease) {
            return lease.map(info -> ((RawLockInfo) info).mode());
        }
        if (answer instanceof Duration nextLook) {
            return nextLook.isZero();
        }
        return answer instanceof ReleaseResult result ? result.outcome() : answer.getClass();
    }

    private List<Integer> holdersAndWaiters(String key) {
        return backend.status(key)
                .map(status -> List.of(status.holders().size(), status.waiters()))
                .orElse(List.of());
    }

    @Test
    void an_extended_lease_is_found_by_its_lock_id_alone_after_its_first_ttl() {
        AcquireRequest request = Requests.exclusive(KEY, newLockId(KEY), Duration.ofMillis(500), "test");
        long firstEnd = grant(request).expiresAt().toEpochMilli() + LockBackend.TOLERANCE_MILLIS;
        extend(request, TTL);

        EngineFixture.eventually().until(() -> store.clockMillis() > firstEnd + 100);

        StoreCalls elsewhere = open();
        assertThat(elsewhere.lookupById(request.lockId())).isPresent();
        assertThat(elsewhere.extend(Requests.extension(request.lockId(), TTL)))
                .isInstanceOf(ExtendResult.Extended.class);
        assertThat(elsewhere.release(request.lockId())).isEqualTo(ReleaseResult.RELEASED);
    }

    private AcquireRequest held(AcquireRequest request) {
        grant(request);
        return request;
    }

    private AcquireRequest queued(AcquireRequest request) {
        assertThat(backend.acquire(request.waitingAs(1))).isInstanceOf(AcquireResult.Queued.class);
        return request;
    }

    protected final AcquireRequest request(String key) {
        return Requests.exclusive(key, newLockId(key), TTL, "test");
    }

    private String newLockId(String key) {
        return backend.lockIdFor(key, lockIds.next());
    }

    protected final AcquireResult.Granted grant(AcquireRequest request) {
        AcquireResult attempt = backend.acquire(request);
        assertThat(attempt).isInstanceOf(AcquireResult.Granted.class);
        return (AcquireResult.Granted) attempt;
    }

    protected static RawLockInfo only(List<RawLockInfo> infos) {
        assertThat(infos).hasSize(1);
        return infos.get(0);
    }

    protected final ExtendResult extend(AcquireRequest request, Duration ttl) {
        return backend.extendAll(List.of(Requests.extension(request.key(), request.lockId(), ttl)))
                .get(0);
    }

    protected final StoreCalls backend() {
        return backend;
    }

    private StoreCalls open() {
        StoreCalls another = new StoreCalls(store.newBackend());
        opened.add(another);
        return another;
    }

    private static <T> List<T> inParallel(int threads, List<Callable<T>> tasks) throws Exception {
        ExecutorService executor = Executors.newFixedThreadPool(threads);
        try {
            List<T> results = new ArrayList<>();
            for (Future<T> future : executor.invokeAll(tasks)) {
                results.add(future.get());
            }
            return results;
        } finally {
            executor.shutdownNow();
        }
    }
}
