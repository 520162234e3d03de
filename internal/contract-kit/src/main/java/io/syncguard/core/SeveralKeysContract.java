package io.syncguard.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.syncguard.Fence;
import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockMode;
import io.syncguard.LockRequest;
import io.syncguard.TryResult;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.GrantExtent;
import io.syncguard.spi.ReleaseResult;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** The guarantees of every backend for a call that acquires several keys: it is granted or refused in one step. */
public abstract class SeveralKeysContract extends ContractFixture {

    @ParameterizedTest
    @EnumSource(
            mode = EnumSource.Mode.EXCLUDE,
            names = {"ONE", "EACH", "NOTHING"})
    void free_keys_are_granted_in_every_mode(GrantExtent extent) {
        List<AcquireRequest> requests =
                List.of(request("a", "W"), request("b", "R"), request("c", "1"), request("d", "W"), request("e", "7"));

        List<AcquireResult.Granted> grants = grants(backend().acquireTogether(requests, extent));

        assertThat(grants).hasSize(5);
        for (int i = 0; i < 5; i++) {
            AcquireRequest request = requests.get(i);
            AcquireResult.Granted grant = grants.get(i);
            assertThat(grant.fence()).is(nth(request.key(), 1));
            assertThat(Duration.between(grant.acquiredAt(), grant.expiresAt())).isEqualTo(TTL);
            assertThat(elsewhere().lookup(request.key())).singleElement().satisfies(lease -> {
                assertThat(lease.lockId()).isEqualTo(request.lockId());
                assertThat(lease.mode()).isEqualTo(request.options().mode());
                assertThat(lease.fence()).isEqualTo(grant.fence());
            });
        }
        requests.forEach(this::release);
    }

    @Test
    void many_keys_are_granted_in_one_step_and_again_after_their_release() {
        for (int n = 1; n <= 2; n++) {
            List<AcquireRequest> requests = IntStream.range(0, 300)
                    .mapToObj(i -> request("key " + i, "W"))
                    .toList();

            List<AcquireResult.Granted> grants = grants(backend().acquireTogether(requests, GrantExtent.ALL));

            assertThat(grants).hasSize(300);
            assertThat(grants.get(299).fence()).is(nth("key 299", n));
            backend()
                    .releaseTogether(
                            requests.stream().map(AcquireRequest::keyedLockId).toList());
        }
    }

    @Test
    void a_look_grants_nothing_and_says_what_a_grant_would_meet() {
        held(request("c", "W"));

        assertThat(refusedAt(look("a", "b"))).isEqualTo(-1);
        assertThat(refusedAt(look("a", "b", "c", "d"))).isEqualTo(2);

        assertFree("a", "b", "d");
    }

    /** A lease with {@code ~} has lapsed, and no request has come since then. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            # held | queue | request | granted
            W      |       | W       | false
            W      |       | R       | false
            W      |       | 9       | false
            R      |       | W       | false
            R      |       | R       | true
            R      |       | 1       | false
            R      |       | 2       | true
            2 2    |       | 2       | false
            R ~R   |       | 2       | true
            ~W     |       | W       | true
            ~W     |       | R       | true
            ~R ~R  |       | W       | true
            R ~R   |       | W       | false
            W      | W     | W       | false
            R      | W     | R       | false
            R      | 1     | R       | false
            ~W     | W     | W       | false
            ~W     | W     | R       | false
            ~W     | R     | R       | true
            ~W     | R     | 9       | false
            """)
    void one_key_decides_for_all(String held, @Nullable String queue, String request, boolean granted) {
        List<AcquireRequest> holders = words(held)
                .map(word -> held(request("m", word.replace("~", ""))))
                .toList();
        words(queue).forEach(word -> queued(waiting(request("m", word))));
        for (int i = 0; i < holders.size(); i++) {
            if (words(held).toList().get(i).startsWith("~")) {
                expireLease(holders.get(i));
            }
        }
        List<AcquireRequest> all = List.of(request("a", "W"), request("m", request), request("z", "W"));
        List<AcquireRequest> again = List.of(request("a", "W"), request("m", request), request("z", "W"));

        if (granted) {
            assertThat(elsewhere().acquireTogether(all, GrantExtent.NOTHING))
                    .hasSize(3)
                    .allMatch(AcquireResult.Undecided.class::isInstance);
            assertThat(grants(elsewhere().acquireTogether(all, GrantExtent.ALL)))
                    .hasSize(3);
            all.forEach(this::release);
            assertThat(grants(elsewhere().acquireTogether(again, GrantExtent.IN_FRONT)))
                    .hasSize(3);
        } else {
            for (GrantExtent extent : List.of(GrantExtent.NOTHING, GrantExtent.ALL)) {
                List<AcquireResult> refused = elsewhere().acquireTogether(all, extent);
                assertThat(grants(refused)).isEmpty();
                assertThat(refusedAt(refused)).isEqualTo(1);
                assertFree("a", "z");
                assertThat(store().storedFence("a")).isZero();
            }
            List<AcquireResult> inFront = elsewhere().acquireTogether(again, GrantExtent.IN_FRONT);
            assertThat(grants(inFront)).hasSize(1);
            assertThat(refusedAt(inFront)).isEqualTo(1);
            assertFree("z");
            assertThat(elsewhere().lookup("a")).hasSize(1);
            all.forEach(
                    each -> assertThat(backend().release(each.keyedLockId())).isEqualTo(ReleaseResult.NOT_FOUND));
        }
    }

    @Test
    void a_refusal_says_who_holds_the_key_and_for_how_long() {
        held(request("b", "W"));

        AcquireResult.Refused refusal = (AcquireResult.Refused)
                elsewhere().acquireTogether(requests("a", "b"), GrantExtent.ALL).get(1);

        assertThat(Objects.requireNonNull(refusal.holder()).owner()).isEqualTo("test");
        assertLeft(refusal.timeLeft(), TTL.plus(TOLERANCE));
    }

    @ParameterizedTest
    @EnumSource(
            mode = EnumSource.Mode.EXCLUDE,
            names = {"ONE", "EACH"})
    void a_key_without_a_fence_fails_the_call_and_nothing_is_acquired(GrantExtent extent) {
        release(held(request("b", "W")));
        store().drawnUpTo("b", Fence.MAX_VALUE);
        List<AcquireRequest> requests = requests("a", "b", "c");

        if (extent != GrantExtent.NOTHING) {
            assertThatExceptionOfType(LockBackendException.class)
                    .isThrownBy(() -> backend().acquireTogether(requests, extent))
                    .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.INTERNAL));
        }

        assertFree("a", "b", "c");
        assertThat(store().storedFence("a")).isZero();
    }

    @Test
    void calls_with_common_keys_exclude_each_other_in_whatever_order_they_name_them() throws Exception {
        List<AtomicInteger> holders =
                Stream.generate(AtomicInteger::new).limit(4).toList();
        AtomicInteger granted = new AtomicInteger();
        AtomicInteger threads = new AtomicInteger();
        inProcesses(2, 6, locks -> {
            int thread = threads.getAndIncrement();
            for (int round = 0; round < 60; round++) {
                List<Integer> keys = Stream.of(thread + round, thread + 3 * round + 1, 2 * thread + 2)
                        .map(n -> n % 4)
                        .distinct()
                        .toList();
                List<LockRequest> requests =
                        keys.stream().map(key -> LockRequest.of("k" + key)).toList();
                TryResult<Boolean> alone = locks.tryExecute(requests, held -> {
                    granted.incrementAndGet();
                    boolean first = keys.stream()
                            .map(key -> holders.get(key).getAndIncrement())
                            .allMatch(Integer.valueOf(0)::equals);
                    keys.forEach(key -> holders.get(key).decrementAndGet());
                    return first;
                });
                assertThat(!alone.acquired() || Boolean.TRUE.equals(alone.value()))
                        .isTrue();
            }
        });
        assertThat(granted).hasPositiveValue();
    }

    @Test
    void a_call_that_is_refused_again_and_again_is_in_nobodys_way() throws Exception {
        held(request("q", "W"));
        AtomicInteger threads = new AtomicInteger();
        AtomicInteger refusals = new AtomicInteger();
        inProcesses(2, 3, locks -> {
            int thread = threads.getAndIncrement();
            List<LockRequest> requests =
                    Stream.of("p", "q", "r").map(LockRequest::of).toList();
            for (int round = 0; round < 150; round++) {
                if (thread == 0) {
                    assertThat(locks.tryExecuteWithoutResult(requests, held -> {}))
                            .isFalse();
                } else if (!locks.tryExecuteWithoutResult(LockRequest.of(thread == 1 ? "p" : "r"), held -> {})) {
                    refusals.incrementAndGet();
                }
            }
        });
        assertThat(refusals).hasValue(0);
    }

    private List<AcquireRequest> requests(String... keys) {
        return Stream.of(keys).map(key -> request(key, "W")).toList();
    }

    private List<AcquireResult> look(String... keys) {
        List<AcquireResult> results = elsewhere().acquireTogether(requests(keys), GrantExtent.NOTHING);
        assertThat(grants(results)).isEmpty();
        return results;
    }

    private static List<AcquireResult.Granted> grants(List<AcquireResult> results) {
        return results.stream()
                .filter(AcquireResult.Granted.class::isInstance)
                .map(AcquireResult.Granted.class::cast)
                .toList();
    }

    /** The position of the only refused request; -1 if there is none. */
    private static int refusedAt(List<AcquireResult> results) {
        List<Integer> refused = IntStream.range(0, results.size())
                .filter(i -> results.get(i) instanceof AcquireResult.Refused)
                .boxed()
                .toList();
        assertThat(refused).hasSizeLessThanOrEqualTo(1);
        return refused.isEmpty() ? -1 : refused.get(0);
    }

    private void assertFree(String... keys) {
        assertThat(Stream.of(keys).filter(elsewhere()::isLocked)).isEmpty();
    }

    private static Stream<String> words(@Nullable String text) {
        return text == null ? Stream.empty() : Arrays.stream(text.trim().split(" +"));
    }

    /** A writer {@code W}, a reader {@code R}, or a request with this number of permits. */
    private AcquireRequest request(String key, String word) {
        return switch (word) {
            case "W" -> request(key, LockMode.EXCLUSIVE, TTL);
            case "R" -> request(key, LockMode.SHARED, TTL);
            default -> request(key, LockMode.SHARED, Integer.parseInt(word), TTL);
        };
    }
}
