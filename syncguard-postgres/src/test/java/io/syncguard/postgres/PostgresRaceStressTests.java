package io.syncguard.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.core.Requests;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.ReleaseResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Many clients send random requests that may meet, on a clock that advances with each reading: leases lapse in the
 * middle of everything. The answers must be possible for one server that keeps the contract.
 */
@Tag("verification")
class PostgresRaceStressTests {

    private static final Duration TTL = Duration.ofMinutes(1);
    private static final int CLIENTS = 8;

    private final long seed = System.nanoTime();
    private final AtomicLong lockIds = new AtomicLong();
    private final RaceHistory history = new RaceHistory();
    private PostgresRace race;

    @BeforeEach
    void open() throws Exception {
        System.out.println(getClass().getSimpleName() + " seed " + seed);
        race = new PostgresRace();
    }

    @AfterEach
    void close() throws Exception {
        race.close();
    }

    @Test
    void takeovers_extensions_releases_sweeps_and_pins_of_few_keys() throws Exception {
        mixFor(150);
    }

    @Test
    void the_same_beside_a_session_that_is_idle_in_an_old_snapshot() throws Exception {
        race.inOther("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ");
        race.inOther("SELECT FROM syncguard_locks, syncguard_fence_counters");
        mixFor(75);
    }

    /** Three concurrent extensions of one pinned lease: PostgreSQL waits for a row in spite of {@code SKIP LOCKED}. */
    @Test
    void extensions_of_the_same_few_locks_beside_guarded_commits() throws Exception {
        race.tickingClock(Duration.ofMillis(1));
        List<String> keys = List.of("a", "b", "c");
        keys.forEach(this::acquire);

        run(client -> {
            Random random = new Random(seed + client);
            for (int i = 0; i < 200; i++) {
                if (random.nextInt(4) == 0) {
                    pinOne(random);
                } else {
                    extendSome(random);
                }
            }
        });

        check(keys);
    }

    @Test
    void sweeps_of_many_keys_cross_acquires_and_extensions_of_the_same() throws Exception {
        race.tickingClock(Duration.ofSeconds(6));
        List<String> keys = IntStream.range(0, 40).mapToObj(i -> "k" + i).toList();

        run(client -> {
            Random random = new Random(seed + client);
            for (int i = 0; i < 100; i++) {
                switch (random.nextInt(5)) {
                    case 0, 1 -> acquire(keys.get(random.nextInt(keys.size())));
                    case 2 -> extendSome(random);
                    case 3 -> releaseOne(random);
                    default -> race.sweep(shuffled(keys, random));
                }
            }
        });

        check(keys);
    }

    @Test
    void first_grants_of_many_new_keys() throws Exception {
        race.tickingClock(Duration.ofMillis(1));
        List<String> keys = IntStream.range(0, 100).mapToObj(i -> "new " + i).toList();

        run(client -> keys.forEach(this::acquire));

        assertThat(race.counters()).hasSize(keys.size());
        assertThat(race.counters().values()).containsOnly(1L);
        check(keys);
    }

    private void mixFor(int rounds) throws Exception {
        race.tickingClock(Duration.ofMillis(1500));
        List<String> keys = List.of("a", "b", "c");

        run(client -> {
            Random random = new Random(seed + client);
            for (int i = 0; i < rounds; i++) {
                String key = keys.get(random.nextInt(keys.size()));
                switch (random.nextInt(8)) {
                    case 0, 1, 2 -> acquire(key);
                    case 3, 4 -> extendSome(random);
                    case 5 -> releaseOne(random);
                    case 6 -> race.sweep(shuffled(keys, random));
                    default -> pinOne(random);
                }
            }
        });

        check(keys);
    }

    private void acquire(String key) {
        String lockId = "id " + lockIds.incrementAndGet();
        if (race.backend.acquire(Requests.exclusive(key, lockId, TTL, "test")) instanceof AcquireResult.Granted grant) {
            history.granted(key, lockId, grant);
        }
    }

    /** As a heartbeat does: several at once, in no order, including leases that are being released or taken over. */
    private void extendSome(Random random) {
        List<RaceHistory.Lease> some = recent(random, 6);
        if (some.isEmpty()) {
            return;
        }
        long sentAt = System.nanoTime();
        List<ExtendResult> outcomes = race.backend.extendAll(some.stream()
                .map(lease -> Requests.extension(lease.lockId, TTL))
                .toList());
        for (int i = 0; i < some.size(); i++) {
            if (outcomes.get(i) instanceof ExtendResult.Extended extended) {
                some.get(i).extended(extended.expiresAt().toEpochMilli(), sentAt);
            }
        }
    }

    private void releaseOne(Random random) {
        for (RaceHistory.Lease lease : recent(random, 1)) {
            if (race.backend.release(lease.lockId).outcome() == ReleaseResult.Outcome.RELEASED) {
                lease.released();
            }
        }
    }

    /** As a guarded commit does: while the row is pinned, the key is granted to no other caller. */
    private void pinOne(Random random) {
        for (RaceHistory.Lease lease : recent(random, 1)) {
            race.inTransaction(jdbc -> {
                List<String> fences = jdbc.queryForList(
                        "SELECT fence FROM syncguard_locks WHERE lock_id = ? FOR KEY SHARE",
                        String.class,
                        lease.lockId);
                for (int i = 0; i < 3 && !fences.isEmpty(); i++) {
                    assertThat(jdbc.queryForObject(
                                    "SELECT fence FROM syncguard_fence_counters WHERE fence_key = ?",
                                    Long.class,
                                    "fence:" + lease.key))
                            .as("the last fence of a pinned lease")
                            .isEqualTo(Long.parseLong(fences.get(0)));
                }
            });
        }
    }

    /** Some of the latest grants: most of them are held, some have ended. */
    private List<RaceHistory.Lease> recent(Random random, int most) {
        List<RaceHistory.Lease> last = history.last(12);
        Collections.shuffle(last, random);
        return last.subList(0, Math.min(last.size(), most));
    }

    private void check(List<String> keys) throws Exception {
        Map<String, Long> counters = race.counters();
        assertThat(keys).as("keys, seed " + seed).containsAll(counters.keySet());
        history.check(counters);
        assertThat(race.leases())
                .as("the remaining leases")
                .noneMatch(row -> history.isReleased((String) row.get("lock_id")));
        assertThat(race.closeAndCount("deadlocks")).as("deadlocks").isZero();
    }

    private static String[] shuffled(List<String> keys, Random random) {
        List<String> shuffled = new ArrayList<>(keys);
        Collections.shuffle(shuffled, random);
        return shuffled.toArray(String[]::new);
    }

    private interface Client {
        void run(int number);
    }

    private static void run(Client client) throws Exception {
        List<Future<Void>> clients = IntStream.range(0, CLIENTS)
                .mapToObj(number -> PostgresRace.<Void>start(() -> {
                    client.run(number);
                    return null;
                }))
                .collect(Collectors.toList());
        for (Future<Void> each : clients) {
            each.get();
        }
    }
}
