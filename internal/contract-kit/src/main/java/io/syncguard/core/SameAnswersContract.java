package io.syncguard.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.FenceSource;
import io.syncguard.spi.ReleaseResult;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Every backend gives the same answers to the same operations, on both sides of each end to the millisecond. */
public abstract class SameAnswersContract {

    private static final long LAST_BY_CLOCK = 810_000_000_000_000L;

    protected abstract StoppedStore newStore(FenceSource fences);

    @Test
    void answers_what_is_written() throws IOException {
        assertReplays("same-answers.txt", newStore(FenceSource.COUNTER), true);
    }

    @Test
    void answers_lock_ids_alone_as_those_with_their_keys() throws IOException {
        assertReplays("same-answers.txt", newStore(FenceSource.COUNTER), false);
    }

    @Test
    void answers_with_fences_by_the_clock_what_is_written() throws IOException {
        assertReplays("same-fences-by-the-clock.txt", newStore(FenceSource.CLOCK), true);
    }

    @Test
    void the_source_of_the_fences_changes_no_other_answer() throws IOException {
        String written = written("same-answers.txt");

        assertThat(withoutFences(answers(newStore(FenceSource.CLOCK), written))).isEqualTo(withoutFences(written));
    }

    @Test
    void a_clock_that_stood_far_in_the_future_leaves_fences() {
        Duration far = Duration.ofDays(365 * 400);
        try (StoppedStore store = newStore(FenceSource.CLOCK)) {
            StoreCalls backend = new StoreCalls(store.newBackend());
            long before = fence(backend, "k");
            store.moveClock(far);
            List<Long> meanwhile = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                meanwhile.add(fence(backend, "k"));
                store.moveClock(Duration.ofMillis(1));
            }
            store.moveClock(far.negated());

            assertThat(meanwhile).containsExactly(LAST_BY_CLOCK, LAST_BY_CLOCK + 1, LAST_BY_CLOCK + 2);
            assertThat(fence(backend, "k")).isEqualTo(LAST_BY_CLOCK + 3);
            assertThat(fence(backend, "another")).isBetween(before, before + 1000);
            backend.close();
        }
    }

    /** The fence of a grant, which is released. */
    private static long fence(StoreCalls backend, String key) {
        String lockId = backend.lockIdFor(key, "x".repeat(22));
        AcquireResult result = backend.acquire(Requests.exclusive(key, lockId, Duration.ofMinutes(1), "test"));
        assertThat(backend.release(lockId)).isEqualTo(ReleaseResult.RELEASED);
        return ((AcquireResult.Granted) result).fence().value();
    }

    private static void assertReplays(String file, StoppedStore newStore, boolean keyed) throws IOException {
        String written = written(file);
        try (StoppedStore store = newStore;
                AnswerScript script = new AnswerScript(store, keyed)) {
            assertThat(script.replay(written)).isEqualTo(written);
            assertThat(script.leftOver()).isEmpty();
        }
    }

    static String answers(StoppedStore newStore, String operations) {
        try (StoppedStore store = newStore;
                AnswerScript script = new AnswerScript(store)) {
            return script.replay(operations);
        }
    }

    private static String withoutFences(String answers) {
        return answers.replaceAll("fence \\d+", "fence");
    }

    private static String written(String file) throws IOException {
        try (InputStream script = SameAnswersContract.class.getResourceAsStream(file)) {
            return new String(script.readAllBytes(), StandardCharsets.UTF_8).replace("\r\n", "\n");
        }
    }
}
