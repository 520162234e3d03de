package io.syncguard.rules;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.Fence;
import io.syncguard.LockMode;
import io.syncguard.rules.KeyChanges.Rows;
import io.syncguard.spi.AcquireOptions;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ExtendRequest;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.FenceSource;
import io.syncguard.spi.GrantExtent;
import io.syncguard.spi.KeyedLockId;
import io.syncguard.spi.ReleaseResult;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the rules change and send. The contract kit has the answers, on each store. */
class KeyRulesTests {

    private static final long NOW = 1_000_000;
    private static final Duration TTL = Duration.ofSeconds(30);
    private static final Duration WAITER_TTL = Duration.ofSeconds(6);
    private static final long POLL = 2000;
    private static final LeaseKind WRITER = new LeaseKind(LockMode.EXCLUSIVE, 0);
    private static final LeaseKind READER = new LeaseKind(LockMode.SHARED, 0);
    private static final LeaseKind ONE_OF_TWO = new LeaseKind(LockMode.SHARED, 2);

    private final KeyRules rules = new KeyRules(WAITER_TTL, FenceSource.COUNTER);
    private final KeyState unused = KeyState.unused("k");

    @Test
    void a_grant_inserts_a_lease_and_writes_the_counter() {
        Decision<AcquireResult> decision = rules.acquire(unused, attempt("a", WRITER), "me", NOW);

        StoredLease lease = lease("a", LockMode.EXCLUSIVE, 1, NOW + 30_000);
        assertThat(decision.answer()).isEqualTo(lease.grant());
        assertThat(decision.changes()).isEqualTo(new KeyChanges(inserted(lease), none(), 1L));
        assertThat(decision.wakeUps()).isEmpty();
    }

    @Test
    void a_grant_deletes_lapsed_leases_and_one_to_a_waiter_its_entry() {
        StoredLease lapsed = lease("old", LockMode.EXCLUSIVE, 7, NOW - 1000);
        QueueEntry own = entry("a", WRITER, "me");
        KeyState key = key(List.of(lapsed), own);

        KeyChanges changes =
                rules.acquire(key, attempt("a", WRITER).fromQueue(), "me", NOW).changes();

        assertThat(changes.leases().deleted()).containsExactly(lapsed);
        assertThat(changes.queue()).isEqualTo(new Rows<>(List.of(), List.of(), List.of(own)));
        assertThat(changes.lastFence()).isEqualTo(8);
    }

    @Test
    void a_refusal_changes_nothing_and_the_last_attempt_of_a_waiter_its_entry_alone() {
        QueueEntry own = entry("a", WRITER, "me");
        KeyState key = key(List.of(lease("h", LockMode.SHARED, 7, NOW + 5000)), own);

        assertThat(rules.acquire(key, attempt("b", WRITER), "me", NOW).changes().areNone())
                .isTrue();
        assertThat(rules.acquire(key, attempt("a", WRITER).fromQueue(), "me", NOW)
                        .changes())
                .isEqualTo(new KeyChanges(none(), new Rows<>(List.of(), List.of(), List.of(own)), null));
    }

    @Test
    void a_waiter_gets_an_entry_and_keeps_its_arrival_under_a_new_number() {
        KeyState held = key(List.of(lease("h", LockMode.EXCLUSIVE, 7, NOW + 60_000)));

        Decision<AcquireResult> first = rules.acquire(held, attempt("a", WRITER).waitingAs(1), "me", NOW);
        Decision<AcquireResult> second =
                rules.acquire(first.after(), attempt("a", WRITER).waitingAs(2).fromQueue(), "me", NOW + 2000);

        QueueEntry entry = new QueueEntry("a", WRITER, "owner", true, "me", 1, NOW, NOW + 6000);
        assertThat(first.changes()).isEqualTo(new KeyChanges(none(), inserted(entry), null));
        QueueEntry renewed = new QueueEntry("a", WRITER, "owner", true, "me", 2, NOW, NOW + 8000);
        assertThat(second.changes().queue()).isEqualTo(new Rows<>(List.of(), List.of(renewed), List.of()));
    }

    /** @param arrived also in this millisecond, on a fast store */
    @ParameterizedTest
    @ValueSource(longs = {NOW - 100, NOW})
    void a_waiter_whose_entry_has_lapsed_gets_another_one_behind_all_others(long arrived) {
        QueueEntry lapsed = new QueueEntry("a", WRITER, "owner", true, "me", 97, arrived, NOW);
        KeyState key = key(List.of(lease("h", LockMode.EXCLUSIVE, 7, NOW + 60_000)), lapsed, entry("b", WRITER, "me"));

        Rows<QueueEntry> changes = rules.acquire(
                        key, attempt("a", WRITER).waitingAs(1).fromQueue(), "me", NOW)
                .changes()
                .queue();

        QueueEntry last = new QueueEntry("a", WRITER, "owner", true, "me", 1, NOW, NOW + 6000);
        assertThat(changes).isEqualTo(new Rows<>(List.of(last), List.of(), List.of(lapsed)));
    }

    @Test
    void fences_by_the_clock_are_never_below_it_and_grow_within_a_millisecond() {
        KeyRules byClock = new KeyRules(WAITER_TTL, FenceSource.CLOCK);
        KeyState first =
                byClock.acquire(unused, attempt("a", READER), "me", NOW).after();
        KeyState second =
                byClock.acquire(first, attempt("b", READER), "me", NOW).after();

        assertThat(first.lastFence()).isEqualTo(NOW * 100);
        assertThat(second.lastFence()).isEqualTo(NOW * 100 + 1);
    }

    @Test
    void a_grant_to_a_waiter_wakes_those_whom_it_or_a_lapse_before_their_next_poll_leaves_room() {
        QueueEntry behind = entry("b", ONE_OF_TWO, "other");
        StoredLease lapsesBeforeThePoll = lease("h", LockMode.SHARED, 7, NOW - 1000 + POLL);

        assertThat(grantToFirstOfTwo(behind, lapsesBeforeThePoll).wakeUps()).containsExactly(wakeUp(behind));
        assertThat(grantToFirstOfTwo(behind, lapsesBeforeThePoll.until(NOW - 999 + POLL))
                        .wakeUps())
                .isEmpty();
    }

    private Decision<AcquireResult> grantToFirstOfTwo(QueueEntry behind, StoredLease held) {
        KeyState key = key(List.of(held), entry("a", ONE_OF_TWO, "me"), behind);
        return rules.acquire(key, attempt("a", ONE_OF_TWO).fromQueue(), "me", NOW);
    }

    @Test
    void a_hand_over_makes_a_lease_of_the_first_entry_and_sends_it() {
        StoredLease held = lease("h", LockMode.EXCLUSIVE, 7, NOW + 5000);
        QueueEntry first = entry("a", WRITER, "other");
        KeyState key = key(List.of(held), first, entry("b", WRITER, "other"));

        Decision<ReleaseResult> decision = rules.handOver(key, "h", "me", NOW);

        StoredLease handedOver = lease("a", LockMode.EXCLUSIVE, 8, NOW + 6000);
        assertThat(decision.answer()).isEqualTo(ReleaseResult.RELEASED);
        assertThat(decision.changes())
                .isEqualTo(new KeyChanges(
                        new Rows<>(List.of(handedOver), List.of(), List.of(held)),
                        new Rows<>(List.of(), List.of(), List.of(first)),
                        8L));
        assertThat(decision.wakeUps()).containsExactly(new WakeUp("other", first.waiterNumber(), handedOver.grant()));
    }

    @Test
    void a_hand_over_to_a_waiter_of_the_releasing_process_is_in_the_answer_alone() {
        QueueEntry first = entry("a", WRITER, "me");
        KeyState key = key(List.of(lease("h", LockMode.EXCLUSIVE, 7, NOW + 5000)), first);

        Decision<ReleaseResult> decision = rules.handOver(key, "h", "me", NOW);

        AcquireResult.Granted grant =
                lease("a", LockMode.EXCLUSIVE, 8, NOW + 6000).grant();
        assertThat(decision.answer()).isEqualTo(ReleaseResult.handedOver(first.waiterNumber(), grant));
        assertThat(decision.wakeUps()).isEmpty();
    }

    @Test
    void a_waiter_that_receives_no_messages_is_neither_handed_the_key_nor_woken() {
        KeyState key = key(List.of(lease("h", LockMode.EXCLUSIVE, 7, NOW + 5000)), entry("a", WRITER, null));

        Decision<ReleaseResult> decision = rules.handOver(key, "h", "me", NOW);

        assertThat(decision.changes().leases().inserted()).isEmpty();
        assertThat(decision.wakeUps()).isEmpty();
    }

    @Test
    void a_release_that_hands_nothing_over_wakes_the_first_waiter() {
        QueueEntry first = entry("a", WRITER, "me");
        KeyState key = key(List.of(lease("h", LockMode.EXCLUSIVE, 7, NOW + 5000)), first, entry("b", WRITER, "me"));

        Decision<ReleaseResult> decision = rules.release(key, "h", NOW);

        assertThat(decision.changes().leases().inserted()).isEmpty();
        assertThat(decision.wakeUps()).containsExactly(wakeUp(first));
    }

    @Test
    void a_release_with_a_time_to_hold_replaces_the_lease_by_one_without_a_holder() {
        StoredLease held = lease("h", LockMode.EXCLUSIVE, 7, NOW + 60_000);
        QueueEntry first = entry("a", WRITER, "me");

        Decision<ReleaseResult> decision =
                rules.releaseAfter(key(List.of(held), first), "h", Duration.ofSeconds(10), NOW);

        assertThat(decision.changes().leases().deleted()).containsExactly(held);
        assertThat(decision.changes().leases().inserted())
                .singleElement()
                .satisfies(lease -> assertThat(lease.hasHolder()).isFalse())
                .satisfies(lease -> assertThat(lease.freeAt()).isEqualTo(NOW + 10_000));
        assertThat(decision.wakeUps()).containsExactly(wakeUp(first));
        assertThat(rules.release(decision.after(), "h", NOW).answer()).isEqualTo(ReleaseResult.NOT_FOUND);
    }

    @Test
    void an_extension_updates_its_lease_alone_and_wakes_the_front_if_it_shortens_it() {
        QueueEntry lapsed = entry("l", WRITER, "me").until(NOW);
        QueueEntry first = entry("a", WRITER, "me");
        StoredLease held = lease("h", LockMode.EXCLUSIVE, 7, NOW + 10_000);
        KeyState key = key(List.of(held), lapsed, first);

        Decision<ExtendResult> longer = rules.extend(key, extension(TTL), NOW);
        Decision<ExtendResult> shorter = rules.extend(key, extension(Duration.ofSeconds(9)), NOW);

        assertThat(longer.changes())
                .isEqualTo(new KeyChanges(
                        new Rows<>(List.of(), List.of(held.until(NOW + 30_000)), List.of()), none(), null));
        assertThat(longer.wakeUps()).isEmpty();
        assertThat(shorter.wakeUps()).containsExactly(wakeUp(first));
    }

    @Test
    void a_rotation_updates_the_fence_of_the_lease() {
        StoredLease held = lease("h", LockMode.EXCLUSIVE, 7, NOW + 10_000);

        Decision<ExtendResult> decision = rules.rotate(key(List.of(held)), extension(TTL), NOW);

        assertThat(decision.answer())
                .isEqualTo(new ExtendResult.Rotated(Instant.ofEpochMilli(NOW + 30_000), new Fence(8)));
        assertThat(decision.changes().leases().updated())
                .containsExactly(lease("h", LockMode.EXCLUSIVE, 8, NOW + 30_000));
        assertThat(decision.changes().lastFence()).isEqualTo(8);
    }

    @Test
    void a_renewal_updates_its_entry_and_no_lapsed_one() {
        QueueEntry first = entry("a", WRITER, "me").until(NOW + 1);
        KeyState key = key(List.of(lease("h", LockMode.EXCLUSIVE, 7, NOW + 10_000)), first);

        Decision<Duration> decision = rules.renewWaiter(key, "a", NOW);

        assertThat(decision.answer()).isEqualTo(Duration.ofSeconds(11));
        assertThat(decision.changes().queue())
                .isEqualTo(new Rows<>(List.of(), List.of(first.until(NOW + 6000)), List.of()));
        assertThat(rules.renewWaiter(key, "a", NOW + 1).answer()).isZero();
    }

    @Test
    void a_forced_release_deletes_all_leases_and_draws_a_fence() {
        StoredLease one = lease("h", LockMode.SHARED, 7, NOW + 10_000);
        StoredLease lapsed = lease("l", LockMode.SHARED, 6, NOW - 1000);

        KeyChanges changes = rules.forceRelease(key(List.of(one, lapsed)), lease -> true, NOW)
                .changes();

        assertThat(changes.leases().deleted()).containsExactlyInAnyOrder(one, lapsed);
        assertThat(changes.lastFence()).isEqualTo(8);
    }

    @Test
    void a_cleanup_deletes_what_has_lapsed_and_wakes_the_next_waiter() {
        StoredLease lapsed = lease("h", LockMode.EXCLUSIVE, 7, NOW - 1000);
        QueueEntry dead = entry("a", WRITER, "me").until(NOW);
        QueueEntry next = entry("b", WRITER, "me");

        Decision<Integer> decision = rules.sweep(key(List.of(lapsed), dead, next), NOW);

        assertThat(decision.answer()).isEqualTo(1);
        assertThat(decision.changes().leases().deleted()).containsExactly(lapsed);
        assertThat(decision.changes().queue().deleted()).containsExactly(dead);
        assertThat(decision.wakeUps()).containsExactly(wakeUp(next));
    }

    @Test
    void keys_are_granted_together_all_or_none_or_those_in_front() {
        List<KeyState> keys =
                List.of(unused, KeyState.unused("l"), key(List.of(lease("h", LockMode.EXCLUSIVE, 7, NOW))), unused);
        List<AcquireRequest> requests =
                List.of(attempt("a", WRITER), attempt("b", READER), attempt("c", WRITER), attempt("d", WRITER));

        assertThat(answers(rules.acquireTogether(keys, requests, GrantExtent.ALL, NOW)))
                .containsExactly("Undecided", "Undecided", "Refused", "Undecided");
        List<Decision<AcquireResult>> inFront = rules.acquireTogether(keys, requests, GrantExtent.IN_FRONT, NOW);
        assertThat(answers(inFront)).containsExactly("Granted", "Granted", "Refused", "Undecided");
        assertThat(inFront)
                .extracting(decision -> decision.changes().leases().inserted())
                .containsExactly(
                        List.of(lease("a", LockMode.EXCLUSIVE, 1, NOW + 30_000)),
                        List.of(lease("b", LockMode.SHARED, 1, NOW + 30_000)),
                        List.of(),
                        List.of());
        assertThat(answers(rules.acquireTogether(keys, requests, GrantExtent.NOTHING, NOW)))
                .containsExactly("Undecided", "Undecided", "Refused", "Undecided");
        assertThat(answers(rules.acquireTogether(keys.subList(0, 2), requests.subList(0, 2), GrantExtent.ALL, NOW)))
                .containsExactly("Granted", "Granted");
        assertThat(answers(rules.acquireTogether(keys.subList(0, 2), requests.subList(0, 2), GrantExtent.NOTHING, NOW)))
                .containsExactly("Undecided", "Undecided");
    }

    private static List<String> answers(List<Decision<AcquireResult>> decisions) {
        return decisions.stream()
                .map(decision -> decision.answer().getClass().getSimpleName())
                .toList();
    }

    @Test
    void the_first_and_the_last_state_of_a_transaction_have_its_changes() {
        StoredLease held = lease("h", LockMode.EXCLUSIVE, 7, NOW + 5000);
        KeyState before = key(List.of(held));

        KeyState released = rules.release(before, "h", NOW).after();
        KeyState granted =
                rules.acquire(released, attempt("a", WRITER), "me", NOW).after();
        KeyState after = rules.release(granted, "a", NOW).after();

        assertThat(KeyChanges.between(before, after))
                .isEqualTo(new KeyChanges(new Rows<>(List.of(), List.of(), List.of(held)), none(), 8L));
    }

    @Test
    void no_text_shows_a_lock_id() {
        KeyState key = key(List.of(lease("secret", LockMode.SHARED, 7, NOW)), entry("secret", READER, "me"));

        assertThat(rules.sweep(key, NOW).toString()).doesNotContain("secret");
    }

    private static KeyState key(List<StoredLease> leases, QueueEntry... queue) {
        return new KeyState("k", leases, List.of(queue), 7);
    }

    private static StoredLease lease(String lockId, LockMode mode, long fence, long end) {
        return new StoredLease(lockId, mode, "owner", new Fence(fence), NOW, end);
    }

    /** A waiter whose number is that of the letter. */
    private static QueueEntry entry(String lockId, LeaseKind kind, @Nullable String channel) {
        return new QueueEntry(lockId, kind, "owner", true, channel, lockId.charAt(0), NOW - 100, NOW + 6000);
    }

    private static AcquireRequest attempt(String lockId, LeaseKind kind) {
        return new AcquireRequest("k", lockId, new AcquireOptions(kind.mode(), kind.permits(), TTL, "owner", true));
    }

    private static ExtendRequest extension(Duration ttl) {
        return new ExtendRequest(new KeyedLockId("k", "h"), ttl, ExtendRequest.Kind.HOLDER);
    }

    private static WakeUp wakeUp(QueueEntry entry) {
        return new WakeUp("" + entry.channel(), entry.waiterNumber(), null);
    }

    private static <R> Rows<R> inserted(R row) {
        return new Rows<>(List.of(row), List.of(), List.of());
    }

    private static <R> Rows<R> none() {
        return new Rows<>(List.of(), List.of(), List.of());
    }
}
