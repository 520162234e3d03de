package io.syncguard.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.postgres.PostgresStoppedStore;
import io.syncguard.redis.RedisStoppedStore;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Every backend gives the same answers to the same operations, on both sides of each end to the millisecond. */
class SameAnswersTests {

    private static final long SEED = Long.getLong("syncguard.answers.seed", new Random().nextInt(Integer.MAX_VALUE));

    static Stream<Arguments> stores() {
        return Stream.of(
                Arguments.of("PostgreSQL", (Supplier<StoppedStore>) PostgresStoppedStore::new),
                Arguments.of("Redis", (Supplier<StoppedStore>) RedisStoppedStore::new),
                Arguments.of("memory", (Supplier<StoppedStore>) InMemoryStoppedStore::new));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("stores")
    void answers_what_is_written(String name, Supplier<StoppedStore> newStore) throws IOException {
        String written = written();
        try (StoppedStore store = newStore.get();
                AnswerScript script = new AnswerScript(store)) {
            assertThat(script.replay(written)).isEqualTo(written);
            assertThat(script.leftOver()).isEmpty();
        }
    }

    /** The only difference between the backends. */
    @Test
    void an_ended_lease_is_distinguished_from_an_unknown_one_until_it_is_swept_which_redis_does_at_once() {
        String over = "A tries k exclusive 600000\ntime passes 601001\nA extends 600000\nA releases\n";

        assertThat(answers(new PostgresStoppedStore(), over)).contains("= Expired", "= EXPIRED");
        assertThat(answers(new RedisStoppedStore(), over)).contains("= NotFound", "= NOT_FOUND");
    }

    @Test
    void random_operations_have_the_same_answers() {
        String said = new RandomOperations(SEED).on(new PostgresStoppedStore(), 400);

        assertThat(withoutTheDifference(answers(new RedisStoppedStore(), said)))
                .as("-Dsyncguard.answers.seed=" + SEED)
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

    private static String written() throws IOException {
        try (InputStream script = SameAnswersTests.class.getResourceAsStream("same-answers.txt")) {
            return new String(script.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
