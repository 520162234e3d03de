package io.syncguard.verification.stress;

import io.syncguard.LockBackendException;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.OnLost;
import io.syncguard.verification.recording.HistoryRecorder;
import io.syncguard.verification.recording.KnownLockIds;
import io.syncguard.verification.recording.RecordedBackend;
import io.syncguard.verification.recording.StressStore;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.springframework.core.env.Environment;
import org.springframework.dao.DataAccessException;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * One thread that uses locks in all ways at random. {@link HandleRecorder} records the results, {@link RecordedBackend}
 * the requests to the server.
 */
public final class StressClient implements Runnable {

    /** Begins a line of a worker's output that fails the run. */
    static final String UNEXPECTED = "unexpected in a client: ";

    /** Mostly short, so that some leases lapse in use. */
    static final long[] TTLS_MILLIS = {40, 120, 300, 300, 800, 800, 2000, StressStore.LONGEST_TTL_MILLIS};

    /** The property that tells whether some requests have permits. */
    public static final String PERMITTED = "stress.permits";

    /** The property that tells whether the locks guard commits, because they are in the database of the data. */
    public static final String COMMITS = "stress.commits";

    /**
     * What the clients of a run do.
     *
     * @param permitted whether some requests have permits
     * @param commits whether they commit guarded transactions
     */
    record Habits(boolean permitted, boolean commits) {

        static Habits of(Environment environment) {
            return new Habits(
                    environment.getProperty(PERMITTED, Boolean.class, true),
                    environment.getProperty(COMMITS, Boolean.class, false));
        }
    }

    private static final int[] PERMITS = {1, 3, 7};

    /** How long hot keys keep a name. New names keep the history of each key short. */
    private static final long HOT_KEY_NANOS = 30_000_000_000L;

    private static final int MOST_MILLIS_AFTER_FAILURE = 100;

    private static final long MILLI = 1_000_000;

    private final LockTemplate template;
    private final LockManager locks;
    private final @Nullable TransactionTemplate transactions;
    private final StressForeignLocks foreignLocks;
    private final HandleRecorder handles;
    private final Habits habits;
    private final Random random;
    private final long end;

    StressClient(
            LockTemplate template,
            @Nullable TransactionTemplate transactions,
            @Nullable StressDatabase database,
            @Nullable StressStore store,
            HistoryRecorder recorder,
            KnownLockIds known,
            Habits habits,
            Random random,
            long end) {
        this.template = template;
        this.locks = template.manager();
        this.transactions = transactions;
        this.foreignLocks = new StressForeignLocks(template.manager(), store, recorder, known, random);
        this.handles = new HandleRecorder(template.manager(), database, transactions, recorder);
        this.habits = habits;
        this.random = random;
        this.end = end;
    }

    @Override
    public void run() {
        while (System.nanoTime() < end) {
            try {
                next();
            } catch (LockBackendException ex) {
                // A fault disturbs the server. The pause limits the requests during an outage.
                pause(MOST_MILLIS_AFTER_FAILURE);
            } catch (LockException | DataAccessException | TransactionException ex) {
                // Expected: contention, a lost lock, an interrupt or a disturbed database.
            } catch (OutOfMemoryError ex) {
                // A pool could not start a thread.
                pause(MOST_MILLIS_AFTER_FAILURE);
            } catch (RuntimeException | Error ex) {
                System.out.println(UNEXPECTED + ex);
                ex.printStackTrace(System.out);
            } finally {
                Thread.interrupted();
            }
        }
    }

    /** Returns a hot key, a warm one, or one of many cold ones. */
    static String randomKey(Random random) {
        int kind = random.nextInt(100);
        return kind < 35 ? hotKey(random) : kind < 60 ? "warm-" + random.nextInt(24) : "cold-" + random.nextInt(3000);
    }

    private static String hotKey(Random random) {
        return "hot-" + random.nextInt(4) + "-" + System.nanoTime() / HOT_KEY_NANOS;
    }

    private void next() {
        int what = random.nextInt(100);
        if (what < 22) {
            String line = (chance(60) ? "line-" : "hot-line-") + System.nanoTime() / HOT_KEY_NANOS;
            for (int i = random.nextInt(10); i >= 0 && System.nanoTime() < end; i--) {
                lineUp(line);
            }
        } else if (what < 45) {
            template.executeWithoutResult(request().waitTime(someMillis(chance(20) ? 2500 : 150)), this::use);
        } else if (what < 55) {
            tryToUse();
        } else if (what < 62) {
            useWithExtensions();
        } else if (what < 67) {
            useInTransaction();
        } else if (what < 70) {
            useBeyondTheEnd();
        } else if (what < 73) {
            abandon();
        } else if (what < 97) {
            foreignLocks.next();
        } else {
            template.tryExecute(request(), lock -> {
                use(lock);
                return lock.fence();
            });
        }
    }

    /** Uses a key for which most callers wait. Bodies are short, so that each release hands over. */
    private void lineUp(String key) {
        LockRequest request = LockRequest.of(key)
                .ttl(Duration.ofMillis(TTLS_MILLIS[2 + random.nextInt(TTLS_MILLIS.length - 2)]))
                .waitTime(someMillis(chance(80) ? 2500 : 20))
                .onLost(random.nextBoolean() ? OnLost.INTERRUPT : OnLost.NOTIFY);
        request = chance(20) ? sharing(request) : request;
        template.executeWithoutResult(chance(10) ? request.noHeartbeat() : request, this::use);
    }

    private LockRequest request() {
        LockRequest request = LockRequest.of(randomKey(random))
                .ttl(Duration.ofMillis(TTLS_MILLIS[random.nextInt(TTLS_MILLIS.length)]))
                .onLost(random.nextBoolean() ? OnLost.INTERRUPT : OnLost.NOTIFY);
        request = chance(45) ? sharing(request) : request;
        return chance(25) ? request.noHeartbeat() : request;
    }

    /** Adds permits to some shared requests. Requests for one key have different numbers of permits. */
    private LockRequest sharing(LockRequest request) {
        return !habits.permitted || chance(50)
                ? request.shared()
                : request.permits(PERMITS[random.nextInt(PERMITS.length)]);
    }

    private void tryToUse() {
        LockHandle lock = locks.tryAcquire(request());
        if (lock != null) {
            handles.watch(lock);
            handles.isHeld(lock);
            use(lock);
            handles.giveBack(lock);
            if (chance(20)) {
                handles.giveBack(lock);
            }
            handles.isHeld(lock);
        }
    }

    private void useWithExtensions() {
        LockHandle lock = locks.acquire(request().waitTime(someMillis(200)));
        handles.watch(lock);
        for (int i = random.nextInt(3); i >= 0; i--) {
            lock.extend(Duration.ofMillis(TTLS_MILLIS[random.nextInt(TTLS_MILLIS.length)]));
            handles.isHeld(lock);
            pause(3);
        }
        handles.giveBack(lock);
    }

    /** Locks inside a transaction. The lock must not be part of it, and outlives its commit or rollback. */
    private void useInTransaction() {
        if (transactions == null) {
            return;
        }
        transactions.executeWithoutResult(status -> {
            template.executeWithoutResult(request().waitTime(someMillis(50)), this::use);
            if (chance(50)) {
                status.setRollbackOnly();
            }
        });
    }

    /**
     * Works beyond the end of the lease, like a process that was paused too long. On a hot key it works until others
     * have held the key.
     */
    private void useBeyondTheEnd() {
        boolean beyondAll = chance(40);
        LockRequest request = request().ttl(Duration.ofMillis(40)).noHeartbeat();
        LockHandle lock = locks.tryAcquire(beyondAll ? request.key(hotKey(random)) : request);
        if (lock != null) {
            handles.watch(lock);
            long until = System.nanoTime() + (beyondAll ? 1100 + random.nextInt(400) : random.nextInt(100)) * MILLI;
            while (System.nanoTime() < until) {
                handles.isHeld(lock);
                pause(10);
                Thread.interrupted();
            }
            handles.write(lock, chance(50));
            handles.giveBack(lock);
        }
    }

    private void abandon() {
        LockHandle lock = locks.tryAcquire(request().ttl(someMillis(300)).noHeartbeat());
        if (lock != null) {
            handles.watch(lock);
        }
    }

    private void use(LockHandle lock) {
        handles.isHeld(lock);
        if (chance(25)) {
            handles.write(lock, chance(50));
        }
        if (habits.commits && chance(8)) {
            handles.commit(lock);
        }
        if (chance(10)) {
            lock.bind(() -> handles.join(lock)).run();
        }
        if (chance(50)) {
            pause(4);
        }
        if (chance(10)) {
            lock.extend(Duration.ofMillis(TTLS_MILLIS[random.nextInt(TTLS_MILLIS.length)]));
        }
        handles.isHeld(lock);
    }

    private boolean chance(int percent) {
        return random.nextInt(100) < percent;
    }

    private Duration someMillis(int most) {
        return Duration.ofMillis(1 + random.nextInt(most));
    }

    /** Pauses as a part of the load, not to wait for another thread. An interrupt ends it, like the waits of bodies. */
    private void pause(int mostMillis) {
        LockSupport.parkNanos(random.nextLong(mostMillis * MILLI));
    }
}
