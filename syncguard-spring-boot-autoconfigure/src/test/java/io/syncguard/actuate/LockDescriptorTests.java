package io.syncguard.actuate;

import static io.syncguard.LockMode.EXCLUSIVE;
import static io.syncguard.LockMode.SHARED;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.Fence;
import io.syncguard.LockInfo;
import io.syncguard.LockMode;
import io.syncguard.LockStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Why a waiter is blocked, and the times of a lock. */
class LockDescriptorTests {

    private static final Instant AT = Instant.parse("2026-03-01T12:00:00Z");

    private final List<LockInfo> holders = new ArrayList<>();

    private final List<LockStatus.Waiter> queue = new ArrayList<>();

    @Test
    void a_reader_waits_for_a_writer_that_holds_the_key() {
        held(EXCLUSIVE, "w1");
        waits(SHARED, "r1");
        waits(SHARED, "r2");

        assertThat(blockers()).containsExactly(List.of("held by w1"), List.of("held by w1"));
    }

    @Test
    void a_writer_waits_for_all_readers() {
        held(SHARED, "r1");
        held(SHARED, "r2");
        waits(EXCLUSIVE, "w1");

        assertThat(blockers()).containsExactly(List.of("held by r1", "held by r2"));
    }

    @Test
    void of_those_in_front_each_waits_for_the_nearest_that_conflicts_with_it() {
        held(SHARED, "r1");
        waits(EXCLUSIVE, "w1");
        waits(EXCLUSIVE, "w2");
        waits(SHARED, "r2");
        waits(SHARED, "r3");
        waits(EXCLUSIVE, "w3");

        assertThat(blockers())
                .containsExactly(
                        List.of("held by r1"),
                        List.of("position 1, w1"),
                        List.of("position 2, w2"),
                        List.of("position 2, w2"),
                        List.of("position 4, r3"));
    }

    @Test
    void a_reader_that_is_about_to_join_readers_is_blocked_by_nobody() {
        held(SHARED, "r1");
        waits(SHARED, "r2");

        assertThat(blockers()).containsExactly(List.of());
    }

    /** A word for each holder, or each waiter: {@code W} exclusive, {@code R} without a limit, else its permits. */
    @ParameterizedTest(name = "held {0}, queue {1}: {2}")
    @CsvSource(delimiter = '|', textBlock = """
            # as many holders as permits
            R R       | 2           | held by h1, held by h2
            R R       | 3           |
            R         | 1           | held by h1
            # also of a larger number, as in a rolling deployment
            R R R     | 2           | held by h1, held by h2, held by h3
            W         | 5           | held by h1
            # nobody passes one that waits for a permit, and it passes nobody
            R R       | 2 2         | held by h1, held by h2; position 1, w1
            R R       | 2 5         | held by h1, held by h2; position 1, w1
            R R       | 2 R R       | held by h1, held by h2; position 1, w1; position 1, w1
            R         | W R 2       | held by h1; position 1, w1; position 2, w2
            W         | R R 2 R     | held by h1; held by h1; position 2, w2; position 3, w3
            # a writer waits for all
            R R       | W 5         | held by h1, held by h2; position 1, w1
            R R       | 2 W         | held by h1, held by h2; position 1, w1
            # one that is about to be granted
                      | 2           |
            R         | 5 5         | ; position 1, w1
            """)
    void one_that_waits_for_a_permit_waits_for_those_who_fill_its_places_or_for_the_waiter_in_front(
            @Nullable String held, String waiting, @Nullable String expected) {
        words(held).forEach(word -> held(mode(word), "h" + (holders.size() + 1)));
        words(waiting).forEach(word -> waits(mode(word), permits(word), "w" + (queue.size() + 1)));

        assertThat(blockers().stream().map(each -> String.join(", ", each)).collect(Collectors.joining("; ")))
                .isEqualTo(Objects.requireNonNullElse(expected, ""));
        assertThat(shown().queue())
                .extracting(LockDescriptor.Waiter::permits)
                .containsExactlyElementsOf(words(waiting).stream()
                        .map(word -> permits(word) > 0 ? permits(word) : null)
                        .toList());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            R R | 5     |       | 2 | 5
            R R | 5 8 5 |       | 2 | 5 8
            R R | W R   |       | 2 |
            R   | 8     | 5     | 1 | 5 8
            R   | W     | 5 5 3 | 1 | 3 5
            W   | 5     |       | 0 | 5
                | W     |       | 0 |
            """)
    void permits_in_use_are_counted_and_their_number_is_that_of_waiters_and_of_this_process(
            @Nullable String held, String waiting, @Nullable String annotated, int inUse, @Nullable String of) {
        words(held).forEach(word -> held(mode(word), "h"));
        words(waiting).forEach(word -> waits(mode(word), permits(word), "w"));
        Map<String, Set<Integer>> permits = annotated == null
                ? Map.of()
                : Map.of(
                        "order",
                        words(annotated).stream().map(Integer::valueOf).collect(Collectors.toSet()),
                        "ord",
                        Set.of(77));

        LockDescriptor shown = LockDescriptor.of(
                new LockStatus("order:42", AT, holders, queue, queue.size()),
                List.of(),
                new LocalView(KeyView.PLAIN, new KnownNames(Map.of(), Set.of(), permits), OwnCallers.NONE));

        assertThat(shown.permitsInUse()).isEqualTo(inUse);
        assertThat(shown.permits())
                .containsExactlyElementsOf(
                        words(of).stream().map(Integer::valueOf).toList());
    }

    @Test
    void times_are_counted_from_when_the_server_looked() {
        held(EXCLUSIVE, "w1");
        waits(EXCLUSIVE, "w2");

        assertThat(shown().holders().get(0).timeLeft()).isEqualTo(Duration.ofSeconds(20));
        assertThat(shown().queue().get(0).waiting()).isEqualTo(Duration.ofSeconds(3));
    }

    private void held(LockMode mode, String owner) {
        holders.add(new LockInfo(
                "", "", mode, AT.minusSeconds(10), AT.plusSeconds(20), new Fence(holders.size() + 1), owner));
    }

    private void waits(LockMode mode, String owner) {
        waits(mode, 0, owner);
    }

    private void waits(LockMode mode, int permits, String owner) {
        queue.add(new LockStatus.Waiter(mode, permits, owner, AT.minusSeconds(3)));
    }

    private static List<String> words(@Nullable String text) {
        return text == null || text.isEmpty() ? List.of() : List.of(text.split(" "));
    }

    private static LockMode mode(String word) {
        return word.equals("W") ? EXCLUSIVE : SHARED;
    }

    private static int permits(String word) {
        return word.matches("\\d+") ? Integer.parseInt(word) : 0;
    }

    private List<List<String>> blockers() {
        return shown().queue().stream().map(LockDescriptor.Waiter::blockedBy).toList();
    }

    private LockDescriptor shown() {
        return LockDescriptor.of(new LockStatus("order:42", AT, holders, queue, queue.size()), KeyView.PLAIN);
    }
}
