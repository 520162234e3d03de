package io.syncguard.core;

import static io.syncguard.core.EngineFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockMode;
import io.syncguard.RawLockInfo;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.spi.ReleaseResult.Outcome;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A release grants the key to the first waiter, if that one is exclusive and accepts a hand-over. */
public abstract class DirectHandOverContract extends ContractFixture {

    private final RecordingWakeUpListener received = new RecordingWakeUpListener();
    private final RecordingWakeUpListener receivedElsewhere = new RecordingWakeUpListener();

    @BeforeEach
    void connect() {
        connect(backend(), received);
    }

    @Test
    void the_first_in_the_queue_receives_its_grant() {
        AcquireRequest holder = held(writer());
        AcquireRequest first = queuedForHandOver();
        AcquireRequest second = queuedForHandOver();

        release(holder);

        AcquireResult.Granted grant = grantReceivedBy(first);
        assertThat(grant.fence()).is(nth(2));
        assertDrawn(2);
        RawLockInfo info = onlyHolder();
        assertThat(info.lockId()).isEqualTo(first.lockId());
        assertThat(info.fence()).isEqualTo(grant.fence());
        assertThat(info.owner()).isEqualTo("test");
        assertThat(info.acquiredAt()).isEqualTo(grant.acquiredAt());
        assertThat(info.expiresAt()).isEqualTo(grant.expiresAt());
        queued(second);
    }

    @Test
    void the_first_lease_lives_as_long_as_a_queue_entry() {
        AcquireRequest holder = held(writer());
        AcquireRequest waiter = queuedForHandOver();

        release(holder);

        AcquireResult.Granted grant = grantReceivedBy(waiter);
        assertThat(Duration.between(grant.acquiredAt(), grant.expiresAt()))
                .isEqualTo(backend().waiterTtl());
    }

    @Test
    void a_request_finds_the_grant_and_makes_it_live_for_a_whole_ttl() {
        AcquireRequest holder = held(writer());
        AcquireRequest waiter = queuedForHandOver();
        release(holder);

        AcquireResult.Granted grant = granted(waiter.fromQueue());

        assertThat(grant.fence()).is(nth(2));
        assertThat(onlyHolder().expiresAt()).isEqualTo(grant.expiresAt());
        assertThat(Duration.between(grant.acquiredAt(), grant.expiresAt())).isGreaterThanOrEqualTo(TTL);
    }

    @Test
    void the_last_try_finds_the_grant() {
        AcquireRequest holder = held(writer());
        AcquireRequest waiter = queuedForHandOver();
        release(holder);

        assertThat(granted(lastTry(waiter).fromQueue()).fence()).is(nth(2));
    }

    @Test
    void a_waiter_who_asked_again_is_known_by_its_last_number() {
        AcquireRequest holder = held(writer());
        AcquireRequest before = queuedForHandOver();
        AcquireRequest now = before.waitingAs(4711).fromQueue();
        queued(now);

        release(holder);

        assertThat(grantReceivedBy(now).fence()).is(nth(2));
        assertThat(received.grants).containsOnlyKeys(now.waiterNumber());
    }

    @Test
    void a_waiter_who_was_handed_the_key_has_no_queue_entry_any_more() {
        AcquireRequest holder = held(writer());
        AcquireRequest waiter = queuedForHandOver();
        release(holder);

        assertThat(renewQueueEntry(waiter)).isZero();
        assertThat(onlyHolder().expiresAt()).isEqualTo(grantReceivedBy(waiter).expiresAt());
    }

    @Test
    void a_waiter_who_leaves_gives_back_a_grant_that_the_queue_entry_has_become() {
        AcquireRequest holder = held(writer());
        AcquireRequest first = queuedForHandOver();
        AcquireRequest second = queuedForHandOver();
        release(holder);

        release(first);

        assertThat(grantReceivedBy(second).fence()).is(nth(3));
    }

    @Test
    void a_grant_that_lapsed_before_it_was_received_is_lost_and_the_next_request_is_a_new_one() {
        AcquireRequest holder = held(writer());
        AcquireRequest waiter = queuedForHandOver();
        release(holder);
        expireLease(waiter);

        assertThat(granted(waiter.fromQueue()).fence()).is(nth(3));
        assertThat(onlyHolder().lockId()).isEqualTo(waiter.lockId());
    }

    @Test
    void a_waiter_who_does_not_accept_a_hand_over_is_woken_and_granted_nothing() {
        AcquireRequest holder = held(writer());
        AcquireRequest waiter = queuedWriter();
        queuedForHandOver();

        release(holder);

        eventually().until(() -> received.woken.contains(waiter.waiterNumber()));
        assertThat(backend().isLocked(KEY)).isFalse();
        assertThat(granted(waiter.fromQueue()).fence()).is(nth(2));
    }

    @Test
    void a_waiter_without_wake_ups_is_granted_nothing() {
        AcquireRequest holder = held(writer());
        queued(elsewhere(), acceptingHandOver(waitingWriter()));

        release(holder);

        assertThat(backend().isLocked(KEY)).isFalse();
    }

    @Test
    void a_writer_is_handed_the_key_by_the_last_of_the_readers() {
        AcquireRequest one = held(reader());
        AcquireRequest other = held(reader());
        AcquireRequest writer = queuedForHandOver();

        release(one);
        assertThat(backend().lookup(KEY)).extracting(RawLockInfo::lockId).containsExactly(other.lockId());
        release(other);

        assertThat(grantReceivedBy(writer).fence()).is(nth(3));
    }

    @Test
    void a_lapsed_reader_is_in_the_way_of_no_request() {
        AcquireRequest lapsed = held(reader());
        AcquireRequest reader = held(reader());
        AcquireRequest writer = queuedForHandOver();
        expireLease(lapsed);

        release(reader);

        assertThat(granted(writer.fromQueue()).fence()).is(nth(3));
        assertThat(onlyHolder().lockId()).isEqualTo(writer.lockId());
    }

    @Test
    void a_queue_entry_that_lapsed_is_passed_over() {
        AcquireRequest holder = held(writer());
        AcquireRequest first = queuedForHandOver();
        AcquireRequest second = queuedForHandOver();
        expireQueueEntry(first);

        release(holder);

        eventually()
                .until(() -> received.woken.contains(second.waiterNumber())
                        || received.grants.containsKey(second.waiterNumber()));
        assertThat(granted(second.fromQueue()).fence()).is(nth(2));
        queued(first.fromQueue());
    }

    @Test
    void a_key_is_handed_over_with_the_fence_behind_the_last_of_its_holder() {
        AcquireRequest holder = held(writer());
        AcquireRequest waiter = queuedForHandOver();
        rotate(holder, TTL);

        release(holder);

        assertThat(grantReceivedBy(waiter).fence()).is(nth(3));
        assertThat(onlyHolder().fence()).is(nth(3));
    }

    @Test
    void a_key_is_handed_over_after_an_extension_too() {
        AcquireRequest holder = held(writer());
        AcquireRequest waiter = queuedForHandOver();
        extend(holder, TTL);

        release(holder);

        grantReceivedBy(waiter);
    }

    @Test
    void a_waiter_who_was_handed_the_key_takes_the_next_fence_for_a_whole_ttl() {
        AcquireRequest holder = held(writer());
        AcquireRequest waiter = queuedForHandOver();
        release(holder);
        AcquireResult.Granted grant = grantReceivedBy(waiter);

        assertThat(rotate(waiter, TTL)).isInstanceOfSatisfying(ExtendResult.Rotated.class, rotated -> {
            assertThat(rotated.fence()).is(nth(3));
            assertThat(rotated.expiresAt()).isAfterOrEqualTo(grant.acquiredAt().plus(TTL));
        });
    }

    @Test
    void a_try_is_refused_by_a_key_that_was_handed_over() {
        AcquireRequest holder = held(writer());
        AcquireRequest waiter = queuedForHandOver();
        release(holder);
        grantReceivedBy(waiter);

        assertLeft(refused(writer()).timeLeft(), backend().waiterTtl().plus(TOLERANCE));
    }

    @Test
    void a_key_goes_from_hand_to_hand_in_the_order_of_arrival() {
        AcquireRequest holder = held(writer());
        List<AcquireRequest> waiters = List.of(queuedForHandOver(), queuedForHandOver(), queuedForHandOver());

        for (AcquireRequest waiter : waiters) {
            release(holder);
            grantReceivedBy(waiter);
            holder = waiter;
        }

        assertThat(onlyHolder().fence()).is(nth(4));
        assertThat(received.order).containsExactlyElementsOf(numbers(waiters));
    }

    @Test
    void a_lease_that_was_handed_over_is_found_by_its_lock_id_alone() {
        AcquireRequest holder = held(writer());
        AcquireRequest waiter = queuedForHandOver();
        release(holder);

        assertThat(elsewhere().lookupById(waiter.lockId())).isPresent();
        assertThat(elsewhere().extend(Requests.extension(waiter.lockId(), TTL)))
                .isInstanceOf(ExtendResult.Extended.class);
        assertThat(elsewhere().release(waiter.lockId())).isEqualTo(ReleaseResult.RELEASED);
    }

    @Test
    void a_hand_over_to_another_process_is_a_message_and_not_in_the_answer() {
        connect(elsewhere(), receivedElsewhere);
        AcquireRequest holder = held(writer());
        AcquireRequest there = queuedForHandOver(elsewhere(), KEY);
        AcquireRequest here = queuedForHandOver();

        assertThat(backend().release(holder.keyedLockId())).isEqualTo(ReleaseResult.RELEASED);
        eventually().until(() -> receivedElsewhere.grants.containsKey(there.waiterNumber()));
        assertThat(elsewhere().release(there.keyedLockId())).isEqualTo(ReleaseResult.RELEASED);

        assertThat(grantReceivedBy(here).fence()).is(nth(3));
        assertThat(received.order).containsExactly(here.waiterNumber());
        assertThat(receivedElsewhere.order).containsExactly(there.waiterNumber());
    }

    @Test
    void leases_that_end_together_are_each_handed_over_once_here_and_elsewhere() {
        connect(elsewhere(), receivedElsewhere);
        List<AcquireRequest> leases = Stream.of("a", "b", "c", "d")
                .map(key -> held(request(key, LockMode.EXCLUSIVE, TTL)))
                .toList();
        List<AcquireRequest> here = List.of(queuedForHandOver(backend(), "a"), queuedForHandOver(backend(), "c"));
        AcquireRequest there = queuedForHandOver(elsewhere(), "d");

        List<ReleaseResult> answers = backend()
                .releaseTogether(
                        leases.stream().map(AcquireRequest::keyedLockId).toList());

        assertThat(answers)
                .extracting(answer -> delivered(backend(), answer))
                .hasSize(4)
                .containsOnly(Outcome.RELEASED);
        assertThat(answers.get(3).handOvers()).isEmpty();
        here.forEach(this::grantReceivedBy);
        eventually().until(() -> receivedElsewhere.grants.containsKey(there.waiterNumber()));
        assertThat(received.order).containsExactlyInAnyOrderElementsOf(numbers(here));
        assertThat(receivedElsewhere.order).containsExactly(there.waiterNumber());
    }

    @Test
    void a_release_for_nobody_in_particular_hands_nothing_over() {
        AcquireRequest holder = held(writer());
        AcquireRequest waiter = queuedForHandOver();

        assertThat(backend().releaseAfter(holder.keyedLockId(), Duration.ZERO)).isEqualTo(ReleaseResult.RELEASED);
        assertThat(backend().isLocked(KEY)).isFalse();
        granted(waiter.fromQueue());
        AcquireRequest next = queuedForHandOver();
        assertThat(backend().releaseAll(List.of(waiter.keyedLockId()))).containsExactly(ReleaseResult.RELEASED);

        assertThat(granted(next.fromQueue()).fence()).is(nth(3));
        assertThat(received.order).isEmpty();
    }

    private static List<Long> numbers(List<AcquireRequest> waiters) {
        return waiters.stream().map(AcquireRequest::waiterNumber).toList();
    }

    private AcquireRequest queuedForHandOver() {
        return queuedForHandOver(backend(), KEY);
    }

    private AcquireRequest queuedForHandOver(StoreCalls process, String key) {
        AcquireRequest request = acceptingHandOver(waiting(request(key, LockMode.EXCLUSIVE, TTL)));
        queued(process, request);
        eventually().until(process::isConnected);
        return request;
    }

    private AcquireResult.Granted grantReceivedBy(AcquireRequest waiter) {
        eventually().until(() -> received.grants.containsKey(waiter.waiterNumber()));
        return Objects.requireNonNull(received.grants.get(waiter.waiterNumber()));
    }

    private RawLockInfo onlyHolder() {
        List<RawLockInfo> holders = backend().lookup(KEY);
        assertThat(holders).hasSize(1);
        return holders.get(0);
    }
}
