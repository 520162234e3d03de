package io.syncguard.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockInfo;
import io.syncguard.LockMode;
import io.syncguard.LockRequest;
import io.syncguard.RawLockInfo;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.testing.BugOf;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * The guarantees of every backend for shared grants. They exist beside each other, but never beside an exclusive one.
 */
public abstract class SharedLockContract extends ContractFixture {

    @Test
    void any_number_of_shared_grants_live_together() {
        List<AcquireRequest> readers =
                IntStream.range(0, 20).mapToObj(i -> held(reader())).toList();
        granted(elsewhere(), reader());

        assertThat(readers)
                .allSatisfy(reader ->
                        assertThat(backend().lookupById(reader.lockId())).isPresent());
        assertThat(backend().lookup(KEY)).hasSize(21);
    }

    @Test
    void every_grant_shared_or_exclusive_has_the_next_fence_of_the_key() {
        AcquireRequest writer = held(writer());
        release(writer);
        AcquireRequest first = reader();
        AcquireRequest second = reader();

        assertThat(granted(first).fence()).is(nth(2));
        assertThat(granted(second).fence()).is(nth(3));
        release(first);
        release(second);

        assertThat(granted(writer()).fence()).is(nth(4));
        assertDrawn(4);
    }

    @Test
    void a_refused_writer_learns_of_the_reader_who_ends_last_and_that_there_are_others() {
        held(Requests.shared(KEY, newLockId(), TTL, "first"));
        AcquireResult.Granted last = granted(Requests.shared(KEY, newLockId(), TTL.multipliedBy(3), "last"));
        held(Requests.shared(KEY, newLockId(), TTL.multipliedBy(2), "second"));

        AcquireResult.Holder expected = new AcquireResult.Holder("last", last.acquiredAt(), false, false);
        assertThat(refused(writer()).holder()).isEqualTo(expected);
        assertThat(queued(waitingWriter()).holder()).isEqualTo(expected);
    }

    @Test
    void a_reader_that_lapsed_is_not_reported() {
        AcquireRequest gone = held(reader());
        AcquireResult.Granted live = granted(reader());
        expireLease(gone);

        assertThat(refused(writer()).holder())
                .isEqualTo(new AcquireResult.Holder("test", live.acquiredAt(), true, false));
    }

    @Test
    void who_waits_in_front_is_nobody_who_holds_the_key() {
        held(reader());
        queuedWriter();

        assertThat(refused(reader()).holder())
                .as("of a reader, behind a writer")
                .isNull();
        assertThat(queued(waitingReader()).holder()).isNull();
    }

    @Test
    void a_shared_grant_ends_one_ttl_after_it_was_made() {
        AcquireResult.Granted grant = granted(reader());

        assertThat(Duration.between(grant.acquiredAt(), grant.expiresAt())).isEqualTo(TTL);
    }

    @Test
    void a_writer_is_refused_while_somebody_reads_and_a_reader_while_somebody_writes() {
        AcquireRequest reader = held(reader());
        refused(writer());
        release(reader);

        held(writer());
        refused(reader());

        assertDrawn(2);
    }

    /** In distkit one owner may write twice at once. Here owners have no meaning: each grant has a separate lock id. */
    @Test
    void a_second_writer_of_the_same_owner_is_refused_and_so_is_a_reader() {
        held(writer());

        refused(writer());
        refused(reader());
    }

    @Test
    void a_writer_enters_when_all_readers_have_left_and_not_before() {
        List<AcquireRequest> readers =
                IntStream.range(0, 3).mapToObj(i -> held(reader())).toList();

        for (AcquireRequest reader : readers) {
            refused(writer());
            release(reader);
        }

        granted(writer());
    }

    @BugOf("distkit: two readers of one object share an owner, and the first release frees both")
    @Test
    void a_release_ends_one_shared_grant_and_no_other() {
        AcquireRequest first = held(reader());
        AcquireRequest second = held(reader());

        release(first);

        assertThat(backend().lookupById(first.lockId())).isEmpty();
        assertThat(backend().lookupById(second.lockId())).isPresent();
        refused(writer());
    }

    @Test
    void a_shared_grant_is_released_once_and_by_its_holder_only() {
        AcquireRequest reader = held(reader());

        assertThat(backend().release(newLockId())).isEqualTo(ReleaseResult.NOT_FOUND);
        assertThat(backend().release(reader.keyedLockId())).isEqualTo(ReleaseResult.RELEASED);
        assertThat(backend().release(reader.keyedLockId())).isEqualTo(ReleaseResult.NOT_FOUND);
    }

    /**
     * In distkit the ttl of the calling reader decides which other readers have ended; here each reader has the end
     * that it requested.
     */
    @Test
    void every_reader_has_an_end_of_its_own() {
        AcquireRequest brief = held(reader(Duration.ofMinutes(1)));
        AcquireRequest steady = held(reader(Duration.ofHours(1)));

        expireLease(brief);

        assertLeft(
                refused(writer(Duration.ofMillis(1))).timeLeft(),
                Duration.ofHours(1).plus(TOLERANCE));
        assertThat(backend().lookup(KEY)).extracting(RawLockInfo::lockId).containsExactly(steady.lockId());
        release(steady);
        granted(writer());
    }

    @BugOf("distkit: a try that fails shortens somebody else's lease")
    @Test
    void nobody_who_comes_shortens_the_lease_of_a_reader() {
        held(reader());
        RawLockInfo before = backend().lookup(KEY).get(0);

        refused(writer(Duration.ofMillis(300)));
        queued(waiting(writer(Duration.ofMillis(300))));
        queued(waiting(reader(Duration.ofMillis(300))));

        assertThat(backend().lookup(KEY)).containsExactly(before);
    }

    @Test
    void a_second_reader_with_a_shorter_ttl_leaves_the_first_as_it_is() {
        held(reader());
        RawLockInfo before = backend().lookup(KEY).get(0);

        held(reader(Duration.ofMillis(300)));

        assertThat(backend().lookup(KEY).get(0)).isEqualTo(before);
    }

    @Test
    void an_extension_of_a_reader_sets_its_own_end_and_keeps_fence_and_start() {
        held(reader());
        AcquireRequest extended = reader();
        AcquireResult.Granted grant = granted(extended);
        RawLockInfo neighbour = backend().lookup(KEY).get(0);

        ExtendResult outcome = extend(extended, Duration.ofHours(2));

        RawLockInfo info = backend().lookupById(extended.lockId()).orElseThrow();
        assertThat(outcome).isEqualTo(new ExtendResult.Extended(info.expiresAt()));
        assertThat(info.expiresAt()).isAfterOrEqualTo(grant.acquiredAt().plus(Duration.ofHours(2)));
        assertThat(info.acquiredAt()).isEqualTo(grant.acquiredAt());
        assertThat(info.fence()).isEqualTo(grant.fence());
        assertThat(backend().lookup(KEY).get(0)).isEqualTo(neighbour);
    }

    @Test
    void a_reader_that_lapsed_is_neither_extended_nor_released() {
        held(reader());
        AcquireRequest lapsed = held(reader());
        expireLease(lapsed);

        assertThat(extend(lapsed, TTL)).isInstanceOf(ExtendResult.Expired.class);
        assertThat(backend().release(lapsed.keyedLockId())).isEqualTo(ReleaseResult.EXPIRED);
        assertThat(backend().lookupById(lapsed.lockId())).isEmpty();
        assertThat(backend().lookup(KEY)).hasSize(1);
    }

    @Test
    void readers_that_lapsed_let_a_writer_in_and_cannot_come_back() {
        AcquireRequest first = held(reader());
        AcquireRequest second = held(reader());
        expireLease(first);
        expireLease(second);
        AcquireRequest writer = held(writer());

        assertThat(extend(first, TTL)).isInstanceOf(ExtendResult.NotFound.class);
        assertThat(backend().release(second.keyedLockId())).isEqualTo(ReleaseResult.NOT_FOUND);

        assertThat(backend().lookup(KEY)).extracting(RawLockInfo::lockId).containsExactly(writer.lockId());
    }

    @Test
    void a_writer_that_lapsed_lets_readers_in_and_cannot_come_back() {
        AcquireRequest writer = held(writer());
        expireLease(writer);
        held(reader());
        held(reader());

        assertThat(extend(writer, TTL)).isInstanceOf(ExtendResult.NotFound.class);
        assertThat(backend().release(writer.keyedLockId())).isEqualTo(ReleaseResult.NOT_FOUND);

        assertThat(backend().lookup(KEY)).hasSize(2).allMatch(info -> info.mode() == LockMode.SHARED);
    }

    @Test
    void a_shared_lease_of_a_millisecond_keeps_writers_out_for_the_tolerance() {
        held(reader(Duration.ofMillis(1)));

        refused(writer());
    }

    @Test
    void extensions_of_both_modes_are_answered_one_by_one_and_in_order() {
        AcquireRequest reader = held(reader());
        AcquireRequest lapsed = held(reader());
        AcquireRequest writer = held(request("another", LockMode.EXCLUSIVE, TTL));
        AcquireRequest released = held(reader());
        release(released);
        expireLease(lapsed);

        List<ExtendResult> outcomes = backend()
                .extendAll(IntStream.range(0, 4)
                        .mapToObj(i -> extension(
                                List.of(lapsed, writer, released, reader).get(i), Duration.ofHours(i + 1)))
                        .toList());

        assertThat(outcomes.get(0)).isInstanceOf(ExtendResult.Expired.class);
        assertThat(outcomes.get(1)).isEqualTo(new ExtendResult.Extended(end(writer)));
        assertThat(outcomes.get(2)).isInstanceOf(ExtendResult.NotFound.class);
        assertThat(outcomes.get(3)).isEqualTo(new ExtendResult.Extended(end(reader)));
        assertThat(end(reader)).isAfter(end(writer));
    }

    @Test
    void looks_up_all_readers_by_key_in_the_order_of_their_fences_and_each_by_lock_id() {
        AcquireRequest first = reader();
        AcquireRequest lapsed = reader();
        AcquireRequest last = reader();
        AcquireResult.Granted grant = granted(first);
        held(lapsed);
        held(last);
        expireLease(lapsed);

        assertThat(backend().lookup(KEY))
                .containsExactly(
                        backend().lookupById(first.lockId()).orElseThrow(),
                        backend().lookupById(last.lockId()).orElseThrow());
        assertThat(backend().lookupById(first.lockId()))
                .contains(new RawLockInfo(
                        KEY,
                        first.lockId(),
                        LockMode.SHARED,
                        grant.acquiredAt(),
                        grant.expiresAt(),
                        grant.fence(),
                        "test"));
        assertThat(backend().lookupById(lapsed.lockId())).isEmpty();
    }

    @Test
    void a_key_is_locked_while_somebody_reads() {
        AcquireRequest first = held(reader());
        AcquireRequest second = held(reader());

        release(first);
        assertThat(backend().isLocked(KEY)).isTrue();
        expireLease(second);

        assertThat(backend().isLocked(KEY)).isFalse();
    }

    @Test
    void readers_of_one_key_are_not_in_the_way_of_another() {
        held(reader());
        queuedWriter();

        granted(request("order:43", LockMode.EXCLUSIVE, TTL));
        granted(request("order:4", LockMode.SHARED, TTL));
    }

    /** Neither field is synchronised: readers see equal values only because of the lock. */
    @Test
    void many_threads_of_several_processes_read_and_write_an_unprotected_pair_and_see_it_whole() throws Exception {
        int[] pair = new int[2];
        LockRequest request = LockRequest.of("pair").waitTime(Duration.ofMinutes(1));

        inProcesses(3, 9, locks -> {
            for (int round = 0; round < 5; round++) {
                locks.executeWithoutResult(request, writing -> {
                    pair[0]++;
                    assertThat(locks.manager().admin().holders("pair"))
                            .extracting(LockInfo::fence)
                            .containsExactly(writing.fence());
                    pair[1]++;
                });
                locks.executeWithoutResult(request.shared(), reading -> {
                    assertThat(pair[0]).isEqualTo(pair[1]);
                    assertThat(locks.manager().admin().holders("pair"))
                            .allMatch(info -> info.mode() == LockMode.SHARED)
                            .extracting(LockInfo::fence)
                            .contains(reading.fence());
                });
            }
        });

        assertThat(pair).containsExactly(45, 45);
    }

    private Instant end(AcquireRequest request) {
        return backend().lookupById(request.lockId()).orElseThrow().expiresAt();
    }
}
