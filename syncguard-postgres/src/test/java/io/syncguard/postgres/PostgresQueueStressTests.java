package io.syncguard.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockMode;
import io.syncguard.core.Requests;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Readers and writers send random requests in batches that cross: they acquire, wait, renew, give up, shorten, release
 * and are swept. There is no deadlock, and a writer never has its row beside another lease.
 */
@Tag("verification")
class PostgresQueueStressTests {

    private static final Duration TTL = Duration.ofMinutes(1);
    private static final List<String> KEYS = List.of("a", "b", "c", "d", "e", "f");
    private static final int CLIENTS = 8;
    private static final int ROUNDS = 150;

    /** Raised in the transaction that grants, under the serialising row. */
    private static final String WATCH = """
            CREATE FUNCTION watch() RETURNS TRIGGER LANGUAGE plpgsql AS $$
            BEGIN
                IF EXISTS (SELECT FROM syncguard_locks l WHERE l.key = NEW.key AND l.lock_id <> NEW.lock_id)
                    OR TG_TABLE_NAME = 'syncguard_locks'
                        AND EXISTS (SELECT FROM syncguard_locks_shared s WHERE s.key = NEW.key)
                THEN
                    RAISE 'a writer beside somebody else';
                END IF;
                RETURN NULL;
            END
            $$;
            CREATE TRIGGER watch AFTER INSERT ON syncguard_locks FOR EACH ROW EXECUTE FUNCTION watch();
            CREATE TRIGGER watch AFTER INSERT ON syncguard_locks_shared FOR EACH ROW EXECUTE FUNCTION watch();
            """;

    private final long seed = System.nanoTime();
    private final AtomicLong lockIds = new AtomicLong();
    private final ConcurrentMap<String, AtomicLong> grants = new ConcurrentHashMap<>();
    private final List<String> recent = Collections.synchronizedList(new ArrayList<>(List.of("nobody")));

    @Test
    void batches_that_cross_do_not_deadlock_and_a_writer_is_alone() throws Exception {
        System.out.println(getClass().getSimpleName() + " seed " + seed);
        try (PostgresRace race = new PostgresRace()) {
            race.jdbc.execute(WATCH);
            race.tickingClock(Duration.ofMillis(500));
            List<Future<Void>> clients = new ArrayList<>();
            for (int i = 0; i < CLIENTS; i++) {
                Random random = new Random(seed + i);
                clients.add(PostgresRace.start(() -> {
                    for (int round = 0; round < ROUNDS; round++) {
                        doSomething(race, random);
                    }
                    return null;
                }));
            }
            for (Future<Void> client : clients) {
                client.get();
            }

            Map<String, Long> counters = race.counters();
            assertThat(grants)
                    .as("grants by key, seed " + seed)
                    .allSatisfy((key, number) -> assertThat(number.get()).isEqualTo(counters.get(key)));
            assertThat(race.closeAndCount("deadlocks")).as("deadlocks").isZero();
        }
    }

    private void doSomething(PostgresRace race, Random random) {
        switch (random.nextInt(8)) {
            case 0, 1, 2 -> acquire(race, random);
            case 3 ->
                race.backend.extendAll(some(random).stream()
                        .map(lockId -> Requests.extension(lockId, TTL.dividedBy(1 + random.nextInt(4))))
                        .toList());
            case 4 -> race.renewWaiters(some(random).toArray(String[]::new));
            case 5, 6 -> some(random).stream().limit(2).forEach(lockId -> race.backend.release(lockId));
            default -> {
                List<String> keys = new ArrayList<>(KEYS);
                Collections.shuffle(keys, random);
                race.sweep(keys.toArray(String[]::new));
            }
        }
    }

    /** Also repeats the request of a waiter under its lock id, now and then as the last attempt. */
    private void acquire(PostgresRace race, Random random) {
        String key = KEYS.get(random.nextInt(KEYS.size()));
        LockMode mode = random.nextInt(3) == 0 ? LockMode.EXCLUSIVE : LockMode.SHARED;
        String lockId = "id " + lockIds.incrementAndGet();
        recent.add(lockId);
        for (int i = 0; i < 3; i++) {
            AcquireRequest request =
                    Requests.of(key, mode, 0, lockId, TTL, "test", false, false, random.nextInt(4) == 0 ? null : 1L);
            if (race.backend.acquire(request) instanceof AcquireResult.Granted) {
                grants.computeIfAbsent(key, any -> new AtomicLong()).incrementAndGet();
                return;
            }
        }
    }

    /** Lock ids of leases and queue entries, in no order. */
    private List<String> some(Random random) {
        List<String> last;
        synchronized (recent) {
            last = new ArrayList<>(recent.subList(Math.max(0, recent.size() - 40), recent.size()));
        }
        Collections.shuffle(last, random);
        return last.subList(0, Math.min(last.size(), 12));
    }
}
