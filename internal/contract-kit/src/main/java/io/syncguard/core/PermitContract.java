package io.syncguard.core;

import static io.syncguard.core.EngineFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.Fence;
import io.syncguard.LockMode;
import io.syncguard.LockRequest;
import io.syncguard.LockStatus;
import io.syncguard.RawLockInfo;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.KeyedLockId;
import io.syncguard.spi.LockBackend;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.spi.ReleaseResult.HandOver;
import io.syncguard.spi.ReleaseResult.Outcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The guarantees of every backend for requests with permits. A lock with permits is a shared lock that at most n may
 * hold.
 *
 * <p>In the tables, {@code W} is a writer, {@code R} a reader without a limit, and a number is a request with this
 * number of permits.
 */
public abstract class PermitContract extends ListeningFixture {

    /** A lease with {@code ~} has lapsed, and no request has come since then. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            # held      | queue | request | granted
                        |       | 1       | true
                        |       | 10000   | true
            1           |       | 1       | false
            1           |       | 2       | true
            3 3         |       | 3       | true
            3 3 3       |       | 3       | false
            3 3 3       |       | 4       | true
            5 5 5       |       | 2       | false
            R           |       | 1       | false
            R R         |       | 3       | true
            R R R       |       | 3       | false
            W           |       | 9       | false
            1           |       | R       | true
            1           |       | W       | false
            R ~R        |       | 1       | false
            R ~R        |       | 2       | true
            ~R ~R ~R    |       | 1       | true
            R R ~R      |       | W       | false
            ~W          |       | 1       | true
            W           | W     | 9       | false
            W           | R     | 9       | false
            W           | 9     | 9       | false
            W           | 9     | R       | false
            W           | 9     | W       | false
            R           | W     | 9       | false
            R           | W     | R       | false
            R           | 1     | 9       | false
            R           | 1     | R       | false
            R           | 1     | W       | false
            R R         | 2     | 3       | false
            ~W          | 9     | 9       | false
            ~W          | 9     | R       | false
            ~W          | R     | 9       | false
            ~W          | R     | R       | true
            ~W          | W     | 9       | false
            """)
    void a_request_is_granted_by_its_own_number_and_passes_nobody(
            @Nullable String held, @Nullable String queue, String request, boolean granted) {
        List<AcquireRequest> holders =
                words(held).map(word -> held(request(word.replace("~", "")))).toList();
        words(queue).forEach(word -> queued(waiting(request(word))));
        IntStream.range(0, holders.size())
                .filter(i -> words(held).toList().get(i).startsWith("~"))
                .forEach(i -> expireLease(holders.get(i)));
        AcquireRequest tries = request(request);
        AcquireRequest waits = waiting(request(request));

        if (granted) {
            assertThat(granted(elsewhere(), tries).fence()).is(nth(holders.size() + 1));
            assertThat(elsewhere().lookupById(tries.lockId())).isPresent();
            release(tries);
            assertThat(granted(waits).fence()).is(nth(holders.size() + 2));
            assertThat(backend().release(waits.keyedLockId())).isEqualTo(ReleaseResult.RELEASED);
            assertThat(backend().release(waits.keyedLockId())).isEqualTo(ReleaseResult.NOT_FOUND);
        } else {
            assertThat(elsewhere().acquire(tries)).isInstanceOf(AcquireResult.Refused.class);
            queued(waits);
            assertThat(backend().lookupById(tries.lockId())).isEmpty();
            assertThat(elsewhere().release(tries.lockId())).isEqualTo(ReleaseResult.NOT_FOUND);
            assertDrawn(holders.size());
            leave(waits);
        }
    }

    /**
     * The steps are those of holders ({@code release}, {@code lapse}, {@code shorten}, {@code reserve}: a release that
     * keeps the lease for a moment, {@code end}: many releases in one call) and of waiters ({@code leave}, {@code
     * refuse}: a last try, {@code ask}: a request that is granted, {@code give}: a release of what it was granted),
     * each with their numbers, and {@code force}, a forced release.
     *
     * <p>A waiter with {@code -} accepts no hand-over, one with {@code @} is of another process, and one with {@code !}
     * of a process without wake-ups. A lease with {@code .} ends before the next poll of any waiter. In the end, no
     * waiter that is not mentioned can be granted the key.
     */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            # held  | queue       | steps                             | handed over | woken
            # A release grants as many as fit, in their order.
            R       | 1           | release 0                         | 0           |
            R R R   | 3 3         | release 1                         | 0           |
            R R R R | 3 3         | release 0                         |             |
            R R R R | 3 3         | release 0, release 1              | 0           |
            R R     | 2 2         | release 0, release 1              | 0 1         |
            R R ~R  | 3 3         | release 0                         | 0 1         |
            W       | 3 3 3 3     | release 0                         | 0 1 2       |
            W       | 1 1         | release 0, give 0                 | 0 1         |
            W       | 3@ 3 3@ 3@  | release 0                         | 0 1 2       |
            R R     | 2@ 2        | release 0                         | 0           |
            # Each is judged by its own number, and passed by nobody.
            W       | 1 5 1       | release 0                         | 0 1         |
            W       | 5 1 5       | release 0                         | 0           |
            5 5 5   | 2           | release 0                         |             |
            5 5 5   | 2           | release 0, release 1              | 0           |
            # A writer goes alone, readers without a limit are woken, and so is whoever accepts no hand-over.
            R       | W 2         | release 0                         | 0           |
            R R     | W 2         | release 0                         |             |
            W       | W 2 2       | release 0                         | 0           |
            W       | 2 W 2       | release 0                         | 0           |
            3 3 3   | W 3 3       | release 0, release 1, release 2   | 0           |
            3 3 3   | W 3 3       | release 0, end 1 2, ask 0, give 0 | 1 2         | 0
            W       | R 3         | release 0                         |             | 0
            W       | 3 R 3       | release 0                         | 0           | 1
            W       | 1 R R 1     | release 0                         | 0           | 1 2
            W       | 3- 3        | release 0                         |             | 0
            W       | 3 3- 3      | release 0                         | 0           | 1
            # A grant that leaves room wakes the next.
            W       | 3! 3 3      | release 0, ask 0                  |             | 1
            W       | 3- 3- 3 3   | release 0, ask 0, ask 1           |             | 0 1 2
            W       | 3 3 3 3     | lapse 0, ask 0, ask 1, ask 2      |             | 1 2
            W       | 3 3@ 3      | lapse 0, ask 0, ask 1             |             | 1 2
            R R     | 2 2         | lapse 0, ask 0                    |             |
            R R     | 2 2         | lapse 0, lapse 1, ask 0           |             | 1
            R R R   | 2           | release 1, lapse 0, ask 0         |             |
            W       | 1 5         | lapse 0, ask 0                    |             | 1
            W       | 5 1         | lapse 0, ask 0                    |             |
            W       | 1 R R 1     | lapse 0, ask 0                    |             | 1 2
            W       | 3 W         | lapse 0, ask 0                    |             |
            W       | W 3         | lapse 0, ask 0                    |             |
            W       | R 3 3       | lapse 0, ask 0                    |             | 1
            W       | R R 3       | lapse 0, ask 0, ask 1             |             | 2
            W       | R R 3       | lapse 0, ask 1, ask 0             |             | 2
            # A grant also wakes whom a lapse lets in soon: that waiter may not know of the lease.
            R. R    | 2 2         | lapse 1, ask 0                    |             | 1
            R R     | 2. 2        | lapse 0, ask 0                    |             | 1
            R R     | 2. 2 2      | lapse 0, ask 0                    |             | 1
            R. R R  | 3 3         | lapse 1, ask 0                    |             | 1
            R. R R  | 3 2         | lapse 1, ask 0                    |             |
            R. R    | 2 W         | lapse 1, ask 0                    |             |
            R. R    | 2. W        | lapse 1, ask 0                    |             | 1
            R. R    | 2 2         | release 1                         | 0           | 1
            R. R R  | 3 3         | release 2                         | 0           | 1
            R. R    | 2- 2        | release 1, ask 0                  |             | 0 1
            W       | W. W        | lapse 0, ask 0                    |             | 1
            W       | W. W W      | lapse 0, ask 0                    |             | 1
            W       | W W.        | lapse 0, ask 0                    |             |
            W       | W. 2        | lapse 0, ask 0                    |             | 1
            W       | W. R R W    | lapse 0, ask 0                    |             | 1 2
            W       | R. W        | lapse 0, ask 0                    |             | 1
            W       | R. R. W     | lapse 0, ask 0, ask 1             |             | 2
            W       | R. R W      | lapse 0, ask 0, ask 1             |             |
            W       | R. R. 1     | lapse 0, ask 0, ask 1             |             | 2
            # A release does so, too: the first waiter may have been granted the key since, and released it.
            R. R    | W           | release 1                         |             | 0
            R. R    | W           | end 1                             |             | 0
            R. R    | 2 W         | release 1, give 0                 | 0           | 1
            R. R    | 2 W R       | release 1, give 0                 | 0           | 1
            R. R R  | 3 W         | release 1, give 0                 | 0           |
            # Whatever else makes a waiter grantable wakes it, and grants nothing.
            R R     | 2 2 2       | end 0 1                           |             | 0
            R R     | 2 2 2       | end 0 1, ask 0, ask 1             |             | 0 1
            R R     | 2 2         | reserve 0                         |             | 0
            R R     | 2 2 2       | force                             |             | 0
            W       | 2 2         | force                             |             | 0
            W       | R R 2       | force                             |             | 0 1
            R       | W 2 2 R     | leave 0                           |             | 1
            R       | W 2 2 R     | leave 0, ask 1                    |             | 1
            R       | W 3 3 R     | leave 0, ask 1                    |             | 1 2
            R       | W R 3 3     | leave 0, ask 1                    |             | 1 2
            R R     | 2 3 R       | leave 0                           |             | 1
            R R     | 2 3 R       | refuse 0                          |             | 1
            R R     | 2 R R       | leave 0                           |             | 1 2
            # Whoever is first now has to look, because it relied on the one in front.
            R R     | 2 2 2       | leave 0                           |             | 1
            W       | R 2         | leave 0                           |             | 1
            W       | 2 R 2       | leave 0                           |             | 1 2
            W       | 2 R R 2     | leave 0                           |             | 1 2 3
            R R     | 2 2 2       | leave 1                           |             |
            W       | 2 2 2       | leave 1                           |             |
            R R     | 2 2 2       | shorten 1                         |             | 0
            W       | 2 2         | shorten 0                         |             | 0
            W       | R 2 2       | shorten 0                         |             | 0 1
            """)
    void a_change_grants_or_wakes_whoever_can_be_granted_the_key_now_and_nobody_else(
            String held, String queue, String steps, @Nullable String handedOver, @Nullable String woken) {
        Scenario scenario = new Scenario(held, queue);

        Stream.of(steps.split(", ")).forEach(scenario::step);

        scenario.assertHandedOver(numbers(handedOver));
        scenario.assertWoken(numbers(woken));
        scenario.assertNobodyElseCanBeGrantedTheKey();
    }

    @Test
    void a_release_grants_at_most_64_in_one_step_and_wakes_the_next_who_wakes_the_next() {
        AcquireRequest holder = held(writer());
        List<AcquireRequest> waiters = IntStream.range(0, LockBackend.MAX_HAND_OVERS + 3)
                .mapToObj(i -> acceptingHandOver(waiting(limited(LockBackend.MAX_HAND_OVERS + 2))))
                .toList();
        waiters.forEach(this::queued);

        ReleaseResult answer = backend().release(holder.keyedLockId());

        assertThat(answer.handOvers())
                .extracting(HandOver::waiterNumber)
                .containsExactlyElementsOf(waiters.stream()
                        .map(AcquireRequest::waiterNumber)
                        .limit(LockBackend.MAX_HAND_OVERS)
                        .toList());
        assertThat(answer.handOvers())
                .extracting(handOver -> handOver.grant().fence())
                .isSorted();
        assertWokenHere(waiters.get(64));
        granted(waiters.get(64).fromQueue());
        assertWokenHere(waiters.get(65));
        granted(waiters.get(65).fromQueue());
        assertWokenHere();
        queued(waiters.get(66).fromQueue());
        assertThat(backend().lookup(KEY)).hasSize(66);
        assertDrawn(67);
    }

    @Test
    void a_grant_that_was_handed_over_ends_with_the_queue_entry_and_the_next_request_makes_it_whole() {
        AcquireRequest holder = held(writer());
        List<AcquireRequest> waiters =
                Stream.of(2, 2).map(n -> acceptingHandOver(waiting(limited(n)))).toList();
        waiters.forEach(this::queued);
        release(holder);
        Map<Long, AcquireResult.Granted> grants = here.grants;
        assertThat(grants.values())
                .hasSize(2)
                .allSatisfy(grant -> assertThat(Duration.between(grant.acquiredAt(), grant.expiresAt()))
                        .isEqualTo(backend().waiterTtl()));

        AcquireResult.Granted asked = granted(waiters.get(0).fromQueue());
        AcquireResult.Granted lastTry = granted(lastTry(waiters.get(1)).fromQueue());

        assertThat(asked.fence()).is(nth(2));
        assertThat(lastTry.fence()).is(nth(3));
        assertThat(Duration.between(asked.acquiredAt(), asked.expiresAt())).isGreaterThanOrEqualTo(TTL);
        assertThat(renewQueueEntry(waiters.get(0))).isZero();
        assertThat(backend().lookup(KEY)).hasSize(2).allMatch(info -> info.mode() == LockMode.SHARED);
        assertDrawn(3);
    }

    /** The answer to the first request was lost. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void a_request_that_is_repeated_finds_its_lease_and_does_not_count_it(boolean last) {
        AcquireRequest holder = held(limited(1));
        AcquireRequest waiter = waiting(limited(1));
        queued(waiter);
        release(holder);
        granted(waiter.fromQueue());
        queued(waiting(limited(1)));

        AcquireRequest again = (last ? lastTry(waiter) : waiting(waiter)).fromQueue();

        assertThat(granted(again).fence()).is(nth(2));
        assertThat(backend().lookup(KEY)).hasSize(1);
        expireLease(waiter);
        assertThat(backend().lookup(KEY)).isEmpty();
    }

    @Test
    void a_lease_that_lapsed_is_no_obstacle_to_its_own_request() {
        AcquireRequest holder = held(writer());
        AcquireRequest waiter = acceptingHandOver(waiting(limited(1)));
        queued(waiter);
        release(holder);
        expireLease(waiter);

        assertThat(granted(waiter.fromQueue()).fence()).is(nth(3));
        assertThat(backend().lookup(KEY)).hasSize(1);
        refused(limited(1));
    }

    /** Otherwise a late extension could revive the lapsed lease beside its successor. */
    @Test
    void a_lease_that_lapsed_and_made_room_cannot_come_back() {
        AcquireRequest lapsed = held(limited(2));
        AcquireRequest live = held(limited(2));
        expireLease(lapsed);

        AcquireRequest successor = held(limited(2));

        assertThat(extend(lapsed, TTL)).isInstanceOf(ExtendResult.NotFound.class);
        assertThat(backend().release(lapsed.keyedLockId())).isEqualTo(ReleaseResult.NOT_FOUND);
        assertThat(extend(live, TTL)).isInstanceOf(ExtendResult.Extended.class);
        assertThat(backend().lookup(KEY))
                .extracting(RawLockInfo::lockId)
                .containsExactly(live.lockId(), successor.lockId());
        refused(limited(2));
    }

    /** How many leases have to end until there is room for one more. */
    @ParameterizedTest
    @CsvSource({"3, 10", "2, 20", "1, 30"})
    void who_is_refused_learns_how_long_until_there_is_room_and_who_ends_last(int permits, int minutes) {
        Stream.of(20, 10).forEach(ttl -> held(reader(Duration.ofMinutes(ttl))));
        AcquireResult.Granted last = granted(Requests.shared(KEY, newLockId(), Duration.ofMinutes(30), "last"));

        AcquireResult.Refused refused = refused(limited(permits));
        AcquireResult.Queued queued = queued(waiting(limited(permits)));

        assertLeft(refused.timeLeft(), Duration.ofMinutes(minutes).plus(TOLERANCE));
        AcquireResult.Holder holder = new AcquireResult.Holder("last", last.acquiredAt(), false, false);
        assertThat(refused.holder()).isEqualTo(holder);
        assertThat(queued.holder()).isEqualTo(holder);
    }

    /**
     * Leases and queue entries have their ends, in minutes. The first lease that ends may make room: the others may
     * have been released before, which wakes nobody as long as there is no room. It does not matter to whoever has
     * room. A lease with {@code ~} lapses before those in front come, one with {@code !} behind them.
     */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            # held            | in front  | request | looks at the end of
            R:10 R:20 R:30    |           | W       | R:10
            R:10 R:20 R:30    |           | 1       | R:10
            R:10 R:20 R:30    |           | 2       | R:10
            R:10 R:20 R:30    |           | 3       | R:10
            ~R:50 R:10 R:20   |           | 2       | R:10
            W:10              |           | 2       | W:10
            R:10 R:20         | W:40      | 2       | R:10
            ~R:50 R:10 R:20   | W:40      | 2       | R:10
            R:30 R:40         | W:20      | 2       | W:20
            R:10 R:20 R:30    | W:40      | 4       | W:40
            ~R:50 ~R:60 R:10  | W:40      | 3       | W:40
            R:10 R:20         | 2:40      | 3       | 2:40
            R:10              | 1:40 R:30 | 2       | R:30
            R:10              | 1:40      | R       | 1:40
            # If the first waiter can be granted the key now, those in front count as holders.
            !R:50 R:10        | 2:40      | 2       | R:10
            !R:50 R:10        | 2:40      | W       | R:10
            !R:50 R:10        | 2:40      | 3       | 2:40
            !R:50 R:10        | 2:40      | R       | 2:40
            !R:50 R:10        | 2:40 R:30 | 3       | R:10
            !R:50 R:10 R:20   | 3:40 3:30 | 3       | R:10
            !W:50             | 2:40 2:30 | 2       | 2:30
            """)
    void who_waits_looks_at_the_first_end_of_what_is_in_the_way(
            String held, @Nullable String inFront, String request, String first) {
        Map<String, AcquireRequest> holders = new LinkedHashMap<>();
        words(held)
                .forEach(word -> holders.put(word, held(word.contains("W") ? writer(end(word)) : reader(end(word)))));
        expireLeases("~", holders);
        words(inFront).forEach(word -> {
            AcquireRequest waiter = waiting(request(word.substring(0, 1)));
            queued(waiter);
            store().endQueueEntryIn(waiter.lockId(), end(word));
        });
        expireLeases("!", holders);
        AcquireRequest waiter = waiting(request(request));
        Duration look = words(held).anyMatch(first::equals) ? end(first).plus(TOLERANCE) : end(first);

        assertLeft(queued(waiter).nextLook(), look);
        assertLeft(renewQueueEntry(waiter), look);
        Duration again = queued(waiter.fromQueue()).nextLook();
        // A batch counts the caller's own entry, too, which is renewed long before it ends.
        Duration entry = backend().waiterTtl();
        assertLeft(again, again.compareTo(entry) > 0 ? look : entry);
    }

    private void expireLeases(String mark, Map<String, AcquireRequest> holders) {
        holders.forEach((word, holder) -> {
            if (word.startsWith(mark)) {
                expireLease(holder);
            }
        });
    }

    private static Duration end(String word) {
        return Duration.ofMinutes(Integer.parseInt(word.split(":")[1]));
    }

    @Test
    void who_has_room_and_waits_for_those_in_front_learns_of_them_alone() {
        AcquireResult.Granted lease = granted(reader());
        queuedWriter();

        AcquireResult.Refused refused = refused(limited(5));

        assertLeft(refused.timeLeft(), backend().waiterTtl());
        assertThat(refused.holder()).isNull();
        assertThat(refused(limited(1)).holder())
                .isEqualTo(new AcquireResult.Holder("test", lease.acquiredAt(), true, false));
    }

    @Test
    void a_waiter_that_died_falls_out_when_its_queue_entry_is_over() {
        AcquireRequest holder = held(writer());
        AcquireRequest dead = waiting(limited(2));
        queued(dead);
        List<AcquireRequest> next =
                Stream.of(2, 2).map(n -> waiting(limited(n))).toList();
        next.forEach(this::queued);
        release(holder);
        awaitEverythingSentSoFar();
        here.woken.clear();
        queued(next.get(0).fromQueue());

        expireQueueEntry(dead);

        assertThat(renewQueueEntry(next.get(0))).isZero();
        granted(next.get(0).fromQueue());
        assertWokenHere(next.get(1));
        granted(next.get(1).fromQueue());
        queued(dead.fromQueue());
    }

    @Test
    void a_renewed_queue_entry_may_be_granted_the_key_when_there_is_room_and_it_is_first() {
        held(limited(2));
        AcquireRequest lapsed = held(limited(2));
        List<AcquireRequest> waiters =
                Stream.of(2, 2).map(n -> waiting(limited(n))).toList();
        waiters.forEach(this::queued);
        assertThat(renewQueueEntry(waiters.get(0))).isPositive();

        expireLease(lapsed);

        assertThat(renewQueueEntry(waiters.get(0))).isZero();
        assertThat(renewQueueEntry(waiters.get(1))).isPositive();
    }

    @Test
    void a_lease_that_is_held_at_least_for_a_time_keeps_its_permit_until_then() {
        AcquireRequest brief = held(limited(1));

        assertThat(backend().releaseAfter(brief.keyedLockId(), Duration.ofMinutes(5)))
                .isEqualTo(ReleaseResult.RELEASED);

        assertLeft(refused(limited(1)).timeLeft(), Duration.ofMinutes(5));
        granted(limited(2));
    }

    @Test
    void a_permit_is_a_lease_of_its_own() {
        List<AcquireRequest> holders =
                IntStream.range(0, 3).mapToObj(i -> limited(3)).toList();
        List<Fence> fences =
                holders.stream().map(holder -> granted(holder).fence()).toList();
        assertThat(fences.get(0)).is(nth(1));
        assertThat(fences.get(1)).is(nth(2));
        assertThat(fences.get(2)).is(nth(3));

        assertThat(extend(holders.get(0), TTL.multipliedBy(2))).isInstanceOf(ExtendResult.Extended.class);
        assertThat(rotate(holders.get(0), TTL)).isInstanceOf(ExtendResult.NotFound.class);
        assertThat(elsewhere().release(holders.get(1).lockId())).isEqualTo(ReleaseResult.RELEASED);

        assertThat(backend().isLocked(KEY)).as("also if there is room").isTrue();
        assertThat(backend().lookup(KEY)).extracting(RawLockInfo::fence).containsExactly(fences.get(0), fences.get(2));
        assertThat(backend().forceRelease(KEY).released()).hasSize(2);
        assertThat(backend().isLocked(KEY)).isFalse();
        assertThat(granted(limited(1)).fence()).is(nth(5));
    }

    @Test
    void operators_see_the_number_of_each_waiter() {
        held(limited(1));
        Stream.of("1", "7", "R", "W").forEach(word -> queued(waiting(request(word))));

        LockStatus status = elsewhere().status(KEY).orElseThrow();

        assertThat(status.queue()).extracting(LockStatus.Waiter::permits).containsExactly(1, 7, 0, 0);
        assertThat(status.queue())
                .extracting(LockStatus.Waiter::mode)
                .containsExactly(LockMode.SHARED, LockMode.SHARED, LockMode.SHARED, LockMode.EXCLUSIVE);
    }

    @Test
    void permits_of_several_keys_end_together_and_each_key_goes_to_its_own_waiters() {
        List<AcquireRequest> holders = Stream.of("a", "b", "c")
                .map(key -> held(request(key, LockMode.SHARED, 1, TTL)))
                .toList();
        List<AcquireRequest> waiters = Stream.of("a", "a", "c", "c")
                .map(key -> acceptingHandOver(waiting(request(key, LockMode.SHARED, 2, TTL))))
                .toList();
        List<AcquireRequest> second = Stream.of("a", "c")
                .map(key -> held(request(key, LockMode.SHARED, TTL)))
                .toList();
        waiters.forEach(this::queued);
        List<KeyedLockId> ids = Stream.concat(holders.stream(), second.stream())
                .map(AcquireRequest::keyedLockId)
                .toList();

        List<ReleaseResult> answers = backend().releaseTogether(ids);

        assertThat(answers)
                .extracting(answer -> delivered(backend(), answer))
                .hasSize(5)
                .containsOnly(Outcome.RELEASED);
        eventually().until(() -> here.grants.size() == 4);
        assertThat(here.order).containsExactlyInAnyOrderElementsOf(numbers(waiters));
        Stream.of("a", "c").forEach(key -> assertThat(backend().lookup(key)).hasSize(2));
        assertThat(backend().isLocked("b")).isFalse();
    }

    /** Each thread sometimes takes the key alone. The test counts the holders itself. */
    @Test
    void many_threads_of_several_processes_are_never_more_than_the_permits_and_all_of_them_get_one() throws Exception {
        AtomicInteger working = new AtomicInteger();
        AtomicInteger runs = new AtomicInteger();
        LockRequest exclusive = LockRequest.of("partner").waitTime(Duration.ofMinutes(1));
        LockRequest limited = exclusive.permits(3);

        inProcesses(3, 9, locks -> {
            for (int round = 0; round < 10; round++) {
                boolean alone = round % 5 == 4;
                locks.executeWithoutResult(alone ? exclusive : limited, lock -> {
                    assertThat(working.incrementAndGet()).isLessThanOrEqualTo(alone ? 1 : 3);
                    assertThat(locks.manager().admin().holders("partner"))
                            .hasSizeLessThanOrEqualTo(alone ? 1 : 3)
                            .anyMatch(holder -> holder.fence().equals(lock.fence()));
                    working.decrementAndGet();
                    runs.incrementAndGet();
                });
            }
        });

        assertThat(runs).hasValue(90);
        assertThat(backend().isLocked("partner")).isFalse();
    }

    private AcquireRequest request(String word) {
        Duration ttl = word.endsWith(".") ? backend().waiterTtl().dividedBy(10) : TTL;
        String mode = word.replace(".", "");
        return switch (mode) {
            case "W" -> writer(ttl);
            case "R" -> reader(ttl);
            default -> request(KEY, LockMode.SHARED, Integer.parseInt(mode), ttl);
        };
    }

    private static Stream<String> words(@Nullable String text) {
        return text == null ? Stream.of() : Stream.of(text.split(" "));
    }

    private static Set<Integer> numbers(@Nullable String text) {
        return new TreeSet<>(words(text).map(Integer::valueOf).toList());
    }

    private static List<Long> numbers(Collection<AcquireRequest> waiters) {
        return waiters.stream().map(AcquireRequest::waiterNumber).toList();
    }

    private void assertWokenHere(AcquireRequest... waiters) {
        awaitEverythingSentSoFar();
        assertThat(here.woken)
                .containsOnlyOnceElementsOf(numbers(List.of(waiters)))
                .hasSize(waiters.length);
        here.woken.clear();
    }

    /** The holders and the waiters of a row of the table. */
    private final class Scenario {

        private final StoreCalls unconnected = open();
        private final List<AcquireRequest> holders;
        private final List<AcquireRequest> waiters = new ArrayList<>();
        private final List<StoreCalls> processes = new ArrayList<>();
        private final Set<Integer> asked = new HashSet<>();
        private final Set<Integer> gone = new HashSet<>();

        Scenario(String held, String queue) {
            holders = words(held)
                    .map(word -> held(request(word.replace("~", ""))))
                    .toList();
            words(queue).forEach(word -> {
                AcquireRequest waiter = waiting(request(word.replaceAll("[-@!]", "")));
                StoreCalls process = word.endsWith("@") ? elsewhere() : word.endsWith("!") ? unconnected : backend();
                queued(process, word.endsWith("-") ? waiter : acceptingHandOver(waiter));
                waiters.add(word.endsWith("-") ? waiter : acceptingHandOver(waiter));
                processes.add(process);
            });
            List<String> words = words(held).toList();
            IntStream.range(0, words.size())
                    .filter(i -> words.get(i).startsWith("~"))
                    .forEach(i -> expireLease(holders.get(i)));
        }

        void step(String step) {
            String[] words = step.split(" ");
            int first = words.length == 1 ? 0 : Integer.parseInt(words[1]);
            switch (words[0]) {
                case "release" -> release(holders.get(first));
                case "lapse" -> expireLease(holders.get(first));
                case "shorten" -> extend(holders.get(first), Duration.ofMinutes(1));
                case "reserve" -> backend().releaseAfter(holders.get(first).keyedLockId(), Duration.ZERO);
                case "end" ->
                    backend()
                            .releaseAll(Stream.of(words)
                                    .skip(1)
                                    .map(i -> holders.get(Integer.parseInt(i)).keyedLockId())
                                    .toList());
                case "force" -> backend().forceRelease(KEY);
                case "leave" -> {
                    leave(waiters.get(first));
                    gone.add(first);
                }
                case "refuse" -> {
                    refused(lastTry(waiters.get(first)).fromQueue());
                    gone.add(first);
                }
                case "ask" -> {
                    granted(processes.get(first), waiters.get(first).fromQueue());
                    asked.add(first);
                }
                case "give" -> release(waiters.get(first));
                default -> throw new IllegalArgumentException(step);
            }
        }

        void assertHandedOver(Set<Integer> expected) {
            awaitEverythingSentSoFar();
            Map<Long, AcquireResult.Granted> grants = new ConcurrentHashMap<>(here.grants);
            grants.putAll(there.grants);
            assertThat(grants.keySet()).containsExactlyInAnyOrderElementsOf(waiterNumbers(expected));
            assertThat(grants.entrySet().stream()
                            .sorted(Comparator.comparing(
                                    entry -> entry.getValue().fence()))
                            .map(Map.Entry::getKey))
                    .as("in the order of their fences")
                    .containsExactlyElementsOf(waiterNumbers(expected));
            assertThat(here.order.size() + there.order.size())
                    .as("no waiter is notified twice")
                    .isEqualTo(expected.size());
            gone.addAll(expected);
        }

        void assertWoken(Set<Integer> expected) {
            Set<Long> woken = new HashSet<>(here.woken);
            woken.addAll(there.woken);
            // A waiter that has asked since then needs no message, and a store may keep it back.
            waiterNumbers(asked).stream()
                    .filter(waiterNumbers(expected)::contains)
                    .forEach(woken::add);
            assertThat(woken).containsExactlyInAnyOrderElementsOf(waiterNumbers(expected));
            gone.addAll(expected);
        }

        void assertNobodyElseCanBeGrantedTheKey() {
            for (int i = 0; i < waiters.size(); i++) {
                if (!gone.contains(i) && !asked.contains(i)) {
                    assertThat(renewQueueEntry(waiters.get(i)))
                            .as("of waiter " + i)
                            .isPositive();
                    queued(processes.get(i), waiters.get(i).fromQueue());
                }
            }
        }

        private List<Long> waiterNumbers(Set<Integer> numbers) {
            return numbers.stream()
                    .map(waiters::get)
                    .map(AcquireRequest::waiterNumber)
                    .map(Objects::requireNonNull)
                    .toList();
        }
    }
}
