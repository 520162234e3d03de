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
import org.junit.jupiter.api.Test;

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
        queue.add(new LockStatus.Waiter(mode, 0, owner, AT.minusSeconds(3)));
    }

    private List<List<String>> blockers() {
        return shown().queue().stream().map(LockDescriptor.Waiter::blockedBy).toList();
    }

    private LockDescriptor shown() {
        return LockDescriptor.of(new LockStatus("order:42", AT, holders, queue, queue.size()), KeyView.PLAIN);
    }
}
