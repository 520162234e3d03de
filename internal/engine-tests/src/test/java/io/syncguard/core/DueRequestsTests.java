package io.syncguard.core;

import static io.syncguard.core.EngineFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.concurrent.Time;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Which items a request has. The items are numbers: each ends so many milliseconds after ten seconds. */
class DueRequestsTests {

    private static final long OF_ANOTHER_SERVER = -1;

    private final ManualTime time = new ManualTime();
    private final Numbers numbers = new Numbers();
    private final DueRequests<Long> requests = new DueRequests<>("test", numbers, time, at -> {});

    @AfterEach
    void close() {
        requests.close();
    }

    @Test
    void what_ends_first_goes_first() {
        run(LongStream.range(0, 3000).map(i -> 3000 - i));

        assertThat(numbers.sent).singleElement().isEqualTo(range(1, 2001));
    }

    @Test
    void what_no_answer_can_reach_in_time_goes_last() {
        learnRoundTrip(Duration.ofMillis(10_250));
        run(LongStream.range(0, 3000));

        assertThat(numbers.sent).singleElement().isEqualTo(range(250, 2250));
    }

    @Test
    void what_no_answer_can_reach_in_time_goes_all_the_same_if_there_is_room() {
        learnRoundTrip(Duration.ofMillis(10_250));
        run(LongStream.range(0, 1000));

        List<Long> expected = range(250, 1000);
        expected.addAll(range(0, 250));
        assertThat(numbers.sent).singleElement().isEqualTo(expected);
    }

    @Test
    void one_slow_answer_among_fast_ones_makes_nothing_late() {
        learnRoundTrip(Duration.ofMillis(4));
        learnRoundTrip(Duration.ofSeconds(30));
        run(LongStream.range(0, 3000));

        assertThat(numbers.sent).singleElement().isEqualTo(range(0, 2000));
    }

    @Test
    void an_urgent_request_is_short() {
        run(LongStream.range(-9_700, 3000).filter(i -> i < -9_690 || i >= 0));
        time.advance(Duration.ofMillis(20));
        requests.run();

        assertThat(numbers.sent.get(0)).hasSize(300);
        assertThat(numbers.sent.get(1)).hasSize(2000);
    }

    @Test
    void a_server_without_an_answer_delays_no_other_one() {
        run(LongStream.of(7));
        run(LongStream.of(OF_ANOTHER_SERVER, 1));

        assertThat(numbers.sent).containsExactly(List.of(7L), List.of(OF_ANOTHER_SERVER));
        time.advance(Duration.ofMillis(20));
        requests.run();
        assertThat(numbers.sent).containsExactly(List.of(7L), List.of(OF_ANOTHER_SERVER), List.of(1L));
    }

    @Test
    void it_looks_at_the_items_when_one_is_due_and_not_for_each_request() {
        numbers.due = false;
        run(LongStream.of(1));
        assertThat(numbers.looks).isEqualTo(1);

        requests.run();
        requests.schedule(time.nanoTime() + 1);
        requests.run();
        assertThat(numbers.looks).isEqualTo(1);

        time.advance(Duration.ofNanos(1));
        requests.run();
        assertThat(numbers.looks).isEqualTo(2);
    }

    private void learnRoundTrip(Duration roundTrip) {
        time.advance(Duration.ofSeconds(10));
        run(LongStream.of(0));
        time.advance(roundTrip);
        numbers.items = List.of();
        numbers.answers.get(numbers.answers.size() - 1).complete("answer");
        eventually().until(() -> {
            requests.run();
            return numbers.ended == numbers.answers.size();
        });
        numbers.sent.clear();
    }

    private void run(LongStream items) {
        numbers.items = items.boxed().toList();
        requests.schedule(time.nanoTime());
        requests.run();
    }

    private static List<Long> range(long from, long to) {
        return new ArrayList<>(LongStream.range(from, to).boxed().toList());
    }

    private final class Numbers implements DueRequests.Work<Long> {

        private final List<List<Long>> sent = new ArrayList<>();
        private final List<CompletableFuture<String>> answers = new ArrayList<>();
        private List<Long> items = List.of();
        private boolean due = true;
        private int looks;
        private int ended;

        @Override
        public Stream<Long> all() {
            looks++;
            return items.stream();
        }

        @Override
        public int serverOf(Long item) {
            return item == OF_ANOTHER_SERVER ? 1 : 0;
        }

        @Override
        public long dueAt(Long item) {
            return due ? time.nanoTime() : Time.NEVER;
        }

        @Override
        public boolean isDue(Long item, long now) {
            return due;
        }

        @Override
        public long endsAt(Long item) {
            return time.nanoTime() + Duration.ofMillis(10_000 + item).toNanos();
        }

        @Override
        public void send(int server, List<Long> items) {
            sent.add(items);
            CompletableFuture<String> answer = new CompletableFuture<>();
            answers.add(answer);
            requests.send(server, items, () -> answer, (text, error) -> ended++);
        }
    }
}
