package io.syncguard.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.postgres.PostgresStoppedStore;
import io.syncguard.redis.RedisStoppedStore;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.FenceSource;
import io.syncguard.spi.ReleaseResult;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Every backend gives the same answers to the same operations, on both sides of each end to the millisecond. */
class SameAnswersTests {

    private static final long SEED = Long.getLong("syncguard.answers.seed", new Random().nextInt(Integer.MAX_VALUE));

    private static final long LAST_BY_CLOCK = 810_000_000_000_000L;

    static Stream<Arguments> stores() {
        return Stream.of(
                Arguments.of("PostgreSQL", (Function<FenceSource, StoppedStore>) PostgresStoppedStore::new),
                Arguments.of("Redis", (Function<FenceSource, StoppedStore>) RedisStoppedStore::new),
                Arguments.of("memory", (Function<FenceSource, StoppedStore>) InMemoryStoppedStore::new));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("stores")
    void answers_what_is_written(String name, Function<FenceSource, StoppedStore> newStore) throws IOException {
        assertReplays("same-answers.txt", newStore.apply(FenceSource.COUNTER), true);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("stores")
    void answers_lock_ids_alone_as_those_with_their_keys(String name, Function<FenceSource, StoppedStore> newStore)
            throws IOException {
        assertReplays("same-answers.txt", newStore.apply(FenceSource.COUNTER), false);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("stores")
    void answers_with_fences_by_the_clock_what_is_written(String name, Function<FenceSource, StoppedStore> newStore)
            throws IOException {
        assertReplays("same-fences-by-the-clock.txt", newStore.apply(FenceSource.CLOCK), true);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("stores")
    void the_source_of_the_fences_changes_no_other_answer(String name, Function<FenceSource, StoppedStore> newStore)
            throws IOException {
        String written = written("same-answers.txt");

        assertThat(withoutFences(answers(newStore.apply(FenceSource.CLOCK), written)))
                .isEqualTo(withoutFences(written));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("stores")
    void a_clock_that_stood_far_in_the_future_leaves_fences(String name, Function<FenceSource, StoppedStore> newStore) {
        Duration far = Duration.ofDays(365 * 400);
        try (StoppedStore store = newStore.apply(FenceSource.CLOCK)) {
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

    /** The only difference between the backends. */
    @ParameterizedTest
    @EnumSource
    void an_ended_lease_is_distinguished_from_an_unknown_one_until_it_is_swept_which_redis_does_at_once(
            FenceSource fences) {
        String over = "A tries k exclusive 600000\ntime passes 601001\nA extends 600000\nA releases\n";

        assertThat(answers(new PostgresStoppedStore(fences), over)).contains("= Expired", "= EXPIRED");
        assertThat(answers(new RedisStoppedStore(fences), over)).contains("= NotFound", "= NOT_FOUND");
    }

    @Tag("verification")
    @ParameterizedTest
    @EnumSource
    void random_operations_have_the_same_answers(FenceSource fences) {
        String said = new RandomOperations(SEED).on(new PostgresStoppedStore(fences), 400);

        assertThat(withoutTheDifference(answers(new RedisStoppedStore(fences), said)))
                .as("-Dsyncguard.answers.seed=" + SEED)
                .isEqualTo(withoutTheDifference(said));
        assertThat(withoutTheDifference(answers(new InMemoryStoppedStore(fences), said)))
                .as("memory, -Dsyncguard.answers.seed=" + SEED)
                .isEqualTo(withoutTheDifference(said));
    }

    private static String answers(StoppedStore newStore, String operations) {
        try (StoppedStore store = newStore;
                AnswerScript script = new AnswerScript(store)) {
            return script.replay(operations);
        }
    }

    /** The release of a lapsed queue entry may answer that it left or expired, or the same as for an unknown lock id. */
    private static String withoutTheDifference(String answers) {
        return answers.replace("NotFound", "Expired")
                .replace("NOT_FOUND", "EXPIRED")
                .replace("LEFT", "EXPIRED");
    }

    private static String withoutFences(String answers) {
        return answers.replaceAll("fence \\d+", "fence");
    }

    private static String written(String file) throws IOException {
        try (InputStream script = SameAnswersTests.class.getResourceAsStream(file)) {
            return new String(script.readAllBytes(), StandardCharsets.UTF_8).replace("\r\n", "\n");
        }
    }
}
