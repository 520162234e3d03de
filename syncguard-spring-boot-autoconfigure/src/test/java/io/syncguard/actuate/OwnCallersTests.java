package io.syncguard.actuate;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.Fence;
import io.syncguard.LockInfo;
import io.syncguard.LockMode;
import io.syncguard.LockRequest;
import io.syncguard.LockStatus;
import io.syncguard.core.LocalLock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which caller of this process is behind which lease or queue entry. */
class OwnCallersTests {

    private static final Instant AT = Instant.parse("2026-03-01T12:00:00Z");

    private final List<LocalLock> callers = new ArrayList<>();

    /** Each caller and each entry is its owner and for how many milliseconds it has waited. */
    @ParameterizedTest(name = "{0}: {1} are {2}, so {3}")
    @CsvSource(textBlock = """
            in their order,                        here 3000 here 2990 here 20, here 3001 here 2990 here 21, 0 1 2
            none of another process,               here 3000,                   there 3000 here 3000,        - 0
            one that the store does not know yet,  here 3000 here 5,            here 3000,                   0
            one that has left,                     here 3000,                   here 9000 here 3000,         - 0
            one that this process does not know,   here 9000 here 3000,         here 3000,                   1
            an older list,                         here 9000,                   here 3000,                   -
            """)
    void a_waiter_is_known_by_its_label_and_its_arrival(String what, String known, String stored, String expected) {
        for (String each : known.split(" (?=[a-z])")) {
            waits(each, LockRequest.of("order:1"));
        }
        LockStatus lock = lock(Stream.of(stored.split(" (?=[a-z])"))
                .map(each -> new LockStatus.Waiter(LockMode.EXCLUSIVE, 0, owner(each), AT.minus(time(each))))
                .toList());

        assertThat(new OwnCallers(callers)
                        .waiters(lock).stream().map(this::numberOf).collect(Collectors.joining(" ")))
                .isEqualTo(expected);
    }

    /** Callers 0 to 2 came at the same time. */
    @ParameterizedTest
    @CsvSource({"EXCLUSIVE, 0, 0", "SHARED, 0, -", "SHARED, 5, 1", "SHARED, 3, 2", "SHARED, 4, -"})
    void a_waiter_is_known_by_its_mode_and_its_permits(LockMode mode, int permits, String expected) {
        waits("here 3000", LockRequest.of("order:1"));
        waits("here 3000", LockRequest.of("order:1").permits(5));
        waits("here 3000", LockRequest.of("order:1").permits(3));

        assertThat(numberOf(new OwnCallers(callers)
                        .waiters(lock(List.of(new LockStatus.Waiter(mode, permits, "here", AT.minusMillis(3000)))))
                        .get(0)))
                .isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({"order:1, 7, 0", "order:1, 8, -", "order:2, 7, -"})
    void a_holder_is_known_by_its_fence(String key, long fence, String expected) {
        callers.add(new LocalLock(
                LockRequest.of("order:1"),
                "here",
                Thread.currentThread(),
                null,
                new Fence(7),
                Duration.ZERO,
                Duration.ZERO));

        assertThat(numberOf(new OwnCallers(callers)
                        .holder(key, new LockInfo("", "", LockMode.SHARED, AT, AT, new Fence(fence), "any"))))
                .isEqualTo(expected);
    }

    private void waits(String caller, LockRequest request) {
        callers.add(new LocalLock(request, owner(caller), Thread.currentThread(), null, null, null, time(caller)));
    }

    private static String owner(String text) {
        return text.split(" ")[0];
    }

    private static Duration time(String text) {
        return Duration.ofMillis(Long.parseLong(text.split(" ")[1]));
    }

    private static LockStatus lock(List<LockStatus.Waiter> queue) {
        return new LockStatus("order:1", AT, List.of(), queue, queue.size());
    }

    private String numberOf(@Nullable LocalLock caller) {
        return caller == null ? "-" : String.valueOf(callers.indexOf(caller));
    }
}
