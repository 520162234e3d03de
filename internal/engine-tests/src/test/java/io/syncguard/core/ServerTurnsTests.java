package io.syncguard.core;

import static io.syncguard.core.EngineFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Which items the next request has. The items are numbers; each is the time in milliseconds when it ends. */
class ServerTurnsTests {

    private final ManualTime time = new ManualTime();
    private final ServerTurns<Long> turns = new ServerTurns<>("test", item -> item < 0 ? 1 : 0, time, () -> {});

    @AfterEach
    void close() {
        turns.close();
    }

    @Test
    void what_ends_first_goes_first() {
        assertThat(next(LongStream.range(0, 3000))).containsExactlyInAnyOrderElementsOf(numbers(0, 1000));
    }

    @Test
    void what_no_answer_can_reach_in_time_goes_last() {
        learnRoundTrip(Duration.ofMillis(250));

        assertThat(next(LongStream.range(0, 1500))).containsExactlyInAnyOrderElementsOf(numbers(250, 1250));
        assertThat(next(LongStream.range(0, 1100)))
                .as("if there is room, it goes all the same, and what ends first goes first")
                .containsExactlyInAnyOrderElementsOf(join(numbers(250, 1100), numbers(0, 150)));
    }

    @Test
    void one_slow_answer_among_fast_ones_makes_nothing_late() {
        learnRoundTrip(Duration.ofMillis(4));
        learnRoundTrip(Duration.ofSeconds(5));

        assertThat(next(LongStream.range(5, 1500))).containsExactlyInAnyOrderElementsOf(numbers(5, 1005));
    }

    @Test
    void a_server_without_an_answer_delays_no_other_one() {
        turns.send(0, List.of(7L), CompletableFuture::new, (answer, error) -> {});

        Map<Integer, List<Long>> next = turns.next(LongStream.of(-1, 1).boxed(), this::urgency);

        assertThat(next).containsOnlyKeys(1);
        assertThat(turns.nextAt(LongStream.of(-1).boxed(), item -> 5)).isEqualTo(5);
        assertThat(turns.nextAt(LongStream.of(1).boxed(), item -> 5))
                .isEqualTo(time.nanoTime() + Duration.ofMillis(20).toNanos());
    }

    private void learnRoundTrip(Duration roundTrip) {
        CompletableFuture<String> answer = new CompletableFuture<>();
        CompletableFuture<String> ended = new CompletableFuture<>();
        time.advance(Duration.ofSeconds(10));
        turns.send(0, List.of(0L), () -> answer, (text, error) -> ended.complete(text));
        time.advance(roundTrip);
        answer.complete("answer");
        eventually().until(() -> {
            turns.settle();
            return ended.isDone();
        });
    }

    private List<Long> next(LongStream items) {
        return turns.next(items.boxed(), this::urgency).getOrDefault(0, List.of());
    }

    private long urgency(long item, long roundTrip) {
        return ServerTurns.urgency(Duration.ofMillis(item).toNanos(), roundTrip);
    }

    private static List<Long> numbers(long from, long to) {
        List<Long> numbers = LongStream.range(from, to).boxed().collect(Collectors.toList());
        Collections.shuffle(numbers);
        return numbers;
    }

    private static List<Long> join(List<Long> first, List<Long> second) {
        first.addAll(second);
        return first;
    }
}
