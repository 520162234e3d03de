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
import io.syncguard.spi.JointExtent;
import io.syncguard.spi.JointResult;
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
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NOTHING")
    void free_keys_are_granted_in_every_mode(JointExtent extent) {
        List<AcquireRequest> requests =
                List.of(request("a", "W"), request("b", "R"), request("c", "1"), request("d", "W"), request("e", "7"));

        JointResult result = backend().acquireTogether(requests, extent);

        assertThat(result.refusal()).isNull();
        assertThat(result.grants()).hasSize(5);
        for (int i = 0; i < 5; i++) {
            AcquireRequest request = requests.get(i);
            AcquireResult.Granted grant = result.grants().get(i);
            assertThat(grant.fence()).is(nth(request.key(), 1));
            assertThat(Duration.between(grant.acquiredAt(), grant.expiresAt())).isEqualTo(TTL);
            assertThat(elsewhere().lookup(request.key())).singleElement().satisfies(lease -> {
                assertThat(lease.lockId()).isEqualTo(request.lockId());
                assertThat(lease.mode()).isEqualTo(request.mode());
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

            List<AcquireResult.Granted> grants =
                    backend().acquireTogether(requests, JointExtent.ALL).grants();

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

        assertThat(look("a", "b")).isNull();
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
            assertThat(elsewhere().acquireTogether(all, JointExtent.NOTHING))
                    .isEqualTo(new JointResult(List.of(), null));
            assertThat(elsewhere().acquireTogether(all, JointExtent.ALL).grants())
                    .hasSize(3);
            all.forEach(this::release);
            assertThat(elsewhere().acquireTogether(again, JointExtent.IN_FRONT).grants())
                    .hasSize(3);
        } else {
            for (JointExtent extent : List.of(JointExtent.NOTHING, JointExtent.ALL)) {
                JointResult refused = elsewhere().acquireTogether(all, extent);
                assertThat(refused.grants()).isEmpty();
                assertThat(refusedAt(refused.refusal())).isEqualTo(1);
                assertFree("a", "z");
                assertThat(store().storedFence("a")).isZero();
            }
            JointResult inFront = elsewhere().acquireTogether(again, JointExtent.IN_FRONT);
            assertThat(inFront.grants()).hasSize(1);
            assertThat(refusedAt(inFront.refusal())).isEqualTo(1);
            assertFree("z");
            assertThat(elsewhere().lookup("a")).hasSize(1);
            all.forEach(
                    each -> assertThat(backend().release(each.keyedLockId())).isEqualTo(ReleaseResult.NOT_FOUND));
        }
    }

    @Test
    void a_refusal_says_who_holds_the_key_and_for_how_long() {
        held(request("b", "W"));

        JointResult.Refusal refusal = Objects.requireNonNull(
                elsewhere().acquireTogether(requests("a", "b"), JointExtent.ALL).refusal());

        assertThat(Objects.requireNonNull(refusal.result().holder()).owner()).isEqualTo("test");
        assertLeft(refusal.result().timeLeft(), TTL.plus(TOLERANCE));
    }

    @ParameterizedTest
    @EnumSource
    void a_key_without_a_fence_fails_the_call_and_nothing_is_acquired(JointExtent extent) {
        release(held(request("b", "W")));
        store().drawnUpTo("b", Fence.MAX_VALUE);
        List<AcquireRequest> requests = requests("a", "b", "c");

        if (extent != JointExtent.NOTHING) {
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

    private JointResult.@Nullable Refusal look(String... keys) {
        JointResult result = elsewhere().acquireTogether(requests(keys), JointExtent.NOTHING);
        assertThat(result.grants()).isEmpty();
        return result.refusal();
    }

    private static int refusedAt(JointResult.@Nullable Refusal refusal) {
        return Objects.requireNonNull(refusal).position();
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
