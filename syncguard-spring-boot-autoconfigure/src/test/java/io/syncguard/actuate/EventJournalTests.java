package io.syncguard.actuate;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.Fence;
import io.syncguard.ForcedRelease;
import io.syncguard.LockErrorCode;
import io.syncguard.LockEvent;
import io.syncguard.LockException;
import io.syncguard.LockInfo;
import io.syncguard.LockMode;
import io.syncguard.LockOperation;
import io.syncguard.LockReason;
import io.syncguard.leader.LeaderElectedEvent;
import io.syncguard.leader.LeaderRevocation;
import io.syncguard.leader.LeaderRevokedEvent;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What operators read of the past. */
class EventJournalTests {

    private final EventJournal journal = new EventJournal();

    @Test
    void each_event_has_its_type_and_its_reason() {
        journal.waitStarted(event("order", null));
        journal.refused(event("order", LockReason.LOCKED));
        journal.acquired(event("order", null));
        journal.released(event("order", null));
        journal.lost(event("order", LockReason.HOLD_AT_MOST));
        journal.failed(
                event("order", null), LockOperation.EXTEND, new LockException(LockErrorCode.LOST, "no order:1", null));
        journal.forceReleased(
                new ForcedRelease("order:1", List.of(lease(7)), List.of(lease(8)), new Fence(9)), "by ann");
        journal.elected(new LeaderElectedEvent("jobs", "here", new Fence(3)));
        journal.revoked(new LeaderRevokedEvent("jobs", "here", new Fence(4), LeaderRevocation.LOST));

        assertThat(journal.eventsAfter(0))
                .extracting(event -> event.number() + " " + event.type() + ": " + event.text())
                .containsExactly(
                        "1 WAITING: ",
                        "2 REFUSED: locked",
                        "3 ACQUIRED: ",
                        "4 RELEASED: ",
                        "5 LOST: hold at most",
                        "6 FAILED: extend: no order:1",
                        "7 FORCE_RELEASED: 1 ended, 1 left; by ann",
                        "8 ELECTED: ",
                        "9 REVOKED: lost");
        assertThat(journal.eventsAfter(8)).extracting(EventDescriptor::fence).containsExactly(4L);
    }

    private static LockInfo lease(long fence) {
        return new LockInfo("key", "id", LockMode.SHARED, Instant.EPOCH, Instant.EPOCH, new Fence(fence), "here");
    }

    @Test
    void a_hidden_event_has_no_text_that_may_name_a_key_in_any_spelling() {
        HiddenKeys view = new HiddenKeys(null);
        journal.failed(
                event("order", null),
                LockOperation.ACQUIRE,
                new LockException(LockErrorCode.LOST, "no order:1, and no ord\\u0065r:1: wait", null));
        journal.forceReleased(
                new ForcedRelease("order:1", List.of(lease(7)), List.of(), new Fence(9)),
                "by ann: order:1 hangs; order:2 hangs, too");
        journal.lost(event("order", LockReason.HOLD_AT_MOST));

        List<EventDescriptor> hidden =
                journal.eventsAfter(0).stream().map(event -> event.hidden(view)).toList();

        assertThat(hidden).extracting(EventDescriptor::text).containsExactly("acquire", "1 ended", "hold at most");
        assertThat(hidden).extracting(EventDescriptor::key).containsOnly(view.hash("order:1"));
    }

    @Test
    void locks_that_work_do_not_displace_what_went_wrong() {
        journal.lost(event("order", LockReason.EXPIRED));
        for (int i = 0; i < EventJournal.CAPACITY + 5; i++) {
            journal.acquired(event("order", null));
        }

        assertThat(journal.eventsAfter(0)).hasSize(EventJournal.CAPACITY + 1);
        assertThat(journal.eventsAfter(0).get(0).type()).isEqualTo(EventType.LOST);
        assertThat(journal.eventsAfter(0).get(1).number()).isEqualTo(7);
    }

    @Test
    void many_threads_lose_no_number() {
        IntStream.range(0, 150).parallel().forEach(i -> journal.acquired(event("order", null)));

        assertThat(journal.eventsAfter(0))
                .extracting(EventDescriptor::number)
                .containsExactlyElementsOf(
                        IntStream.rangeClosed(1, 150).mapToObj(Long::valueOf).toList());
        assertThat(journal.names().get("order").acquired()).isEqualTo(150);
    }

    @Test
    void it_counts_the_locks_of_each_name() {
        journal.acquired(event("order", null));
        journal.refused(event("order", LockReason.LOCKED));
        journal.released(event("order", null));
        journal.lost(event("order", LockReason.EXPIRED));
        journal.lost(event("order", LockReason.NOT_FOUND));
        journal.failed(
                event("job", null), LockOperation.ACQUIRE, new LockException(LockErrorCode.INTERNAL, "broken", null));

        assertThat(journal.names().get("order"))
                .isEqualTo(new NameDescriptor(1, 1, 0, 1, 2, 1, Duration.ofSeconds(2), Duration.ofSeconds(2)));
        assertThat(journal.names().get("job"))
                .isEqualTo(new NameDescriptor(0, 0, 1, 0, 0, 0, Duration.ZERO, Duration.ZERO));
    }

    @Test
    void it_counts_further_names_together() {
        for (int i = 0; i < EventJournal.MAX_NAMES + 3; i++) {
            journal.acquired(event("name" + i, null));
        }

        assertThat(journal.names()).hasSize(EventJournal.MAX_NAMES + 1);
        assertThat(journal.names().get("other").acquired()).isEqualTo(3);
    }

    private static LockEvent event(String name, @Nullable LockReason reason) {
        return new LockEvent(
                name, "order:1", LockMode.EXCLUSIVE, 0, "postgres", new Fence(1), reason, Duration.ofSeconds(2), 1);
    }
}
