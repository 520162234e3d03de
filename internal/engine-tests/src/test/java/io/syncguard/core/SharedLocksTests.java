package io.syncguard.core;

import static io.syncguard.core.EngineFixture.eventually;
import static io.syncguard.core.EngineFixture.got;
import static io.syncguard.core.EngineFixture.inAnotherThread;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.LockEvent;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockInfo;
import io.syncguard.LockListener;
import io.syncguard.LockMode;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.Hashes;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Shared and exclusive handles of one process and others: which run side by side, which wait, and how long a reader
 * holds.
 */
@Timeout(60)
class SharedLocksTests {

    private static final LockRequest WRITE = LockRequest.of("order:42");
    private static final LockRequest READ = WRITE.shared();
    private static final Duration LONG = Duration.ofHours(1);

    @RegisterExtension
    private final EngineFixture fixture = new EngineFixture();

    private final LockEngine locks = fixture.engine;
    private final LockTemplate template = new LockTemplate(locks);

    @Test
    void readers_work_side_by_side() throws Exception {
        CountDownLatch bothRead = new CountDownLatch(2);
        FutureTask<Boolean> first = inAnotherThread(() -> template.execute(READ, lock -> meet(bothRead)));
        FutureTask<Boolean> second = inAnotherThread(() -> template.execute(READ, lock -> meet(bothRead)));

        assertThat(first.get()).isTrue();
        assertThat(second.get()).isTrue();
    }

    @Test
    void every_reader_has_a_lock_id_and_a_fence_of_its_own() {
        LockHandle first = locks.acquire(READ);
        LockHandle second = locks.acquire(READ);

        assertThat(second.lockId()).isNotEqualTo(first.lockId());
        assertThat(second.fence()).isGreaterThan(first.fence());
        assertThat(first.release()).isTrue();
        assertThat(second.isHeld()).isTrue();
        assertThat(locks.isLocked("order:42")).isTrue();
    }

    @Test
    void a_handle_says_in_which_mode_it_is_held() {
        LockHandle lock = locks.acquire(READ);

        assertThat(lock.mode()).isEqualTo(LockMode.SHARED);
        assertThat(lock.state()).isEqualTo(LockHandle.State.HELD);
        assertThat(lock.remaining()).isEqualTo(EngineFixture.TTL);
        lock.release();
        assertThat(lock.state()).isEqualTo(LockHandle.State.RELEASED);
        assertThat(locks.acquire(WRITE).mode()).isEqualTo(LockMode.EXCLUSIVE);
    }

    @Test
    void a_writer_excludes_readers_and_other_writers_until_it_is_released() {
        LockHandle writer = locks.acquire(WRITE);

        assertThat(locks.tryAcquire(READ)).isNull();
        assertThat(locks.tryAcquire(WRITE)).isNull();
        writer.release();
        assertThat(locks.tryAcquire(READ)).isNotNull();
    }

    @Test
    void a_reader_excludes_writers_until_its_handle_is_closed() {
        try (LockHandle reader = locks.acquire(READ)) {
            assertThat(reader.isHeld()).isTrue();
            assertThat(locks.tryAcquire(WRITE)).isNull();
        }

        assertThat(locks.tryAcquire(WRITE)).isNotNull();
    }

    @Test
    void a_writer_waits_for_all_readers() throws Exception {
        LockHandle here = locks.acquire(READ);
        AcquireRequest elsewhere = fixture.readElsewhere("order:42", LONG);
        FutureTask<LockHandle> writer = fixture.startWaiting(WRITE);

        here.release();
        fixture.settle();
        assertThat(writer.isDone()).isFalse();
        fixture.releaseElsewhere(elsewhere);

        eventually().until(writer::isDone);
        assertThat(writer.get().fence().value()).isEqualTo(3);
    }

    @Test
    void readers_wait_for_the_writer_and_enter_together() throws Exception {
        AcquireRequest writer = fixture.holdElsewhere("order:42", LONG);
        FutureTask<LockHandle> first = fixture.startWaiting(READ);
        FutureTask<LockHandle> second = fixture.startWaiting(READ);

        fixture.releaseElsewhere(writer);

        assertThat(got(first).isHeld()).isTrue();
        assertThat(got(second).isHeld()).isTrue();
        assertThat(locks.admin().holders("order:42")).hasSize(2);
    }

    @Test
    void a_writer_who_waits_blocks_new_readers_until_it_had_its_turn() throws Exception {
        LockHandle reader = locks.acquire(READ);
        FutureTask<LockHandle> writer = fixture.startWaiting(WRITE);

        assertThat(locks.tryAcquire(READ)).isNull();
        FutureTask<LockHandle> later = fixture.startWaiting(READ);
        reader.release();
        LockHandle writing = got(writer);
        fixture.settle();
        assertThat(later.isDone()).isFalse();
        writing.release();

        assertThat(got(later).fence()).isGreaterThan(writing.fence());
    }

    @Test
    void a_writer_who_only_tries_does_not_block_readers() {
        locks.acquire(READ);

        assertThat(locks.tryAcquire(WRITE)).isNull();

        assertThat(locks.tryAcquire(READ)).isNotNull();
    }

    @Test
    void a_writer_who_gave_up_does_not_block_readers_any_longer() {
        locks.acquire(READ);
        FutureTask<LockHandle> writer = fixture.startWaiting(WRITE.waitTime(Duration.ofSeconds(2)));
        assertThat(locks.tryAcquire(READ)).isNull();

        fixture.advanceSlowly(Duration.ofSeconds(2), Duration.ofMillis(500));

        eventually().until(writer::isDone);
        assertThatThrownBy(writer::get).hasCauseInstanceOf(LockNotAcquiredException.class);
        assertThat(locks.tryAcquire(READ)).isNotNull();
    }

    @Test
    void heartbeats_keep_all_readers_alive_in_one_statement_per_tick() {
        List<LockHandle> readers =
                IntStream.range(0, 10).mapToObj(i -> locks.acquire(READ)).toList();

        fixture.advanceSlowly(Duration.ofSeconds(95), Duration.ofSeconds(1));

        assertThat(readers).allMatch(LockHandle::isHeld);
        assertThat(locks.tryAcquire(WRITE)).isNull();
        assertThat(fixture.backend.extendStatements.get()).isBetween(8, 11);
    }

    @Test
    void a_reader_whose_lease_is_gone_is_lost_and_its_neighbour_goes_on() {
        LockHandle gone = locks.acquire(READ);
        LockHandle neighbour = locks.acquire(READ);
        fixture.store.expireLease(gone.lockId());

        fixture.time.advance(Duration.ofSeconds(10));

        eventually().until(() -> fixture.events.contains("lost") && fixture.events.contains("extended"));
        assertThat(gone.state()).isEqualTo(LockHandle.State.LOST);
        assertThat(gone.release()).isFalse();
        assertThat(neighbour.isHeld()).isTrue();
    }

    @Test
    void a_reader_without_heartbeat_is_lost_at_its_own_deadline() {
        LockHandle brief = locks.acquire(READ.noHeartbeat().ttl(Duration.ofSeconds(10)));
        LockHandle steady = locks.acquire(READ.noHeartbeat());

        fixture.time.advance(Duration.ofSeconds(10));

        assertThat(brief.state()).isEqualTo(LockHandle.State.LOST);
        assertThat(steady.remaining()).isEqualTo(Duration.ofSeconds(20));
    }

    @Test
    void all_readers_are_shown_in_the_order_of_their_fences() {
        LockHandle first = locks.acquire(READ);
        fixture.readElsewhere("order:42", LONG);
        LockHandle third = locks.acquire(READ);

        List<LockInfo> holders = locks.admin().holders("order:42");

        assertThat(holders).extracting(info -> info.fence().value()).containsExactly(1L, 2L, 3L);
        assertThat(holders).extracting(LockInfo::mode).containsOnly(LockMode.SHARED);
        assertThat(holders).extracting(LockInfo::owner).containsExactly("test", "elsewhere", "test");
        assertThat(holders)
                .extracting(LockInfo::lockIdHash)
                .startsWith(Hashes.abbreviated(first.lockId()))
                .endsWith(Hashes.abbreviated(third.lockId()));
        assertThat(locks.admin().lookup("order:42")).contains(holders.get(0));
        assertThat(locks.owns(third.lockId())).isTrue();
    }

    @Test
    void whoever_knows_its_lock_id_extends_and_releases_a_shared_grant_of_another_process() {
        AcquireRequest elsewhere = fixture.readElsewhere("order:42", LONG);
        AcquireRequest neighbour = fixture.readElsewhere("order:42", LONG);

        assertThat(locks.extend(elsewhere.lockId(), Duration.ofHours(2))).isPresent();
        assertThat(locks.release(elsewhere.lockId())).isTrue();

        assertThat(locks.release(elsewhere.lockId())).isFalse();
        assertThat(locks.owns(neighbour.lockId())).isTrue();
    }

    @Test
    void events_of_shared_locks_say_so() {
        List<LockMode> modes = new CopyOnWriteArrayList<>();
        try (EngineFixture listening = new EngineFixture(new LockListener() {
            @Override
            public void acquired(LockEvent event) {
                modes.add(event.mode());
            }

            @Override
            public void refused(LockEvent event) {
                modes.add(event.mode());
            }

            @Override
            public void released(LockEvent event) {
                modes.add(event.mode());
            }
        })) {
            LockHandle reader = listening.engine.acquire(READ);
            assertThat(listening.engine.tryAcquire(WRITE)).isNull();
            reader.release();
        }

        assertThat(modes).containsExactly(LockMode.SHARED, LockMode.EXCLUSIVE, LockMode.SHARED);
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1})
    void a_shared_request_with_a_ttl_that_is_none_is_refused_before_anything_is_sent(long millis) {
        assertThatThrownBy(() -> locks.acquire(READ.ttl(Duration.ofMillis(millis))))
                .isInstanceOf(LockException.class);
        LockHandle lock = locks.acquire(READ);
        assertThatThrownBy(() -> lock.extend(Duration.ofMillis(millis))).isInstanceOf(LockException.class);

        assertThat(fixture.backend.acquires).hasValue(1);
        assertThat(fixture.backend.extendStatements).hasValue(0);
    }

    private static boolean meet(CountDownLatch everybody) throws InterruptedException {
        everybody.countDown();
        return everybody.await(10, TimeUnit.SECONDS);
    }
}
