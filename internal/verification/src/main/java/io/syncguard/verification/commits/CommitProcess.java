package io.syncguard.verification.commits;

import io.syncguard.CommitGuard;
import io.syncguard.LockException;
import io.syncguard.LockLostException;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.LockRequest;
import io.syncguard.testing.ChildJvm;
import java.io.IOException;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * A process that commits on command: the main class of a {@link ChildJvm}. {@link #answer} lists its commands.
 */
public final class CommitProcess {

    /** Short enough to lapse in every pause. */
    private static final Duration SHORT_TTL = Duration.ofMillis(300);

    /** Lapses soon after a pause begins, but not before. */
    private static final Duration PAUSED_TTL = Duration.ofSeconds(1);

    /** Longer than any pause. */
    private static final Duration LONG_TTL = Duration.ofSeconds(20);

    /** The longest stay of a thread at a point. A pause of the process is likely to find it there. */
    private static final int LONGEST_STAY_MILLIS = 60;

    private final CommitRounds rounds;
    private final AtomicInteger done = new AtomicInteger();
    private final AtomicInteger lostAfterCommit = new AtomicInteger();
    private final Queue<String> committed = new ConcurrentLinkedQueue<>();
    private final Queue<String> refused = new ConcurrentLinkedQueue<>();
    private volatile boolean ended;

    /** The point and the result of the one round on command. */
    private final CountDownLatch arrived = new CountDownLatch(1);

    private final CountDownLatch goOn = new CountDownLatch(1);
    private final AtomicReference<String> outcome = new AtomicReference<>("");
    private Thread single = new Thread();

    private CommitProcess(String url, CommitGuard guard, int threads) {
        rounds = new CommitRounds(url, guard, threads);
    }

    /** @param arguments the JDBC URL, the guard, and the number of threads */
    public static void main(String[] arguments) throws IOException {
        CommitProcess process =
                new CommitProcess(arguments[0], CommitGuard.valueOf(arguments[1]), Integer.parseInt(arguments[2]));
        ChildJvm.serve(question -> process.answer(question.split(" ")));
    }

    private String answer(String[] words) {
        return switch (words[0]) {
            case "stop-at" -> stopAt(words[1], Point.valueOf(words[2]));
            case "go-on" -> goOn();
            case "once" -> once(words[1], LONG_TTL, point -> {});
            case "work" -> work(Integer.parseInt(words[1]), Integer.parseInt(words[2]), Long.parseLong(words[3]));
            case "done" -> String.valueOf(done.get());
            case "end" -> end();
            case "committed" -> String.join(" ", committed);
            case "refused" -> String.join(" ", refused);
            case "lost-after-commit" -> String.valueOf(lostAfterCommit.get());
            default -> throw new IllegalArgumentException(words[0]);
        };
    }

    /** Begins a round, which stops at this point until {@link #goOn}. */
    private String stopAt(String key, Point where) {
        single = new Thread(() -> outcome.set(once(key, PAUSED_TTL, point -> {
            if (point == where) {
                arrived.countDown();
                await(goOn);
            }
        })));
        single.start();
        await(arrived);
        return "stays";
    }

    private String goOn() {
        goOn.countDown();
        try {
            single.join();
        } catch (InterruptedException ex) {
            throw new IllegalStateException(ex);
        }
        return outcome.get();
    }

    private String once(String key, Duration ttl, Consumer<Point> at) {
        try {
            rounds.run(LockRequest.of(key).ttl(ttl).waitTime(Duration.ofMillis(500)), UUID.randomUUID() + "", at);
            return "committed";
        } catch (LockNotAcquiredException ex) {
            return "not acquired: " + ex.getMessage();
        } catch (LockLostException ex) {
            return "lost";
        }
    }

    private String work(int threads, int keys, long seed) {
        for (int i = 0; i < threads; i++) {
            Random random = new Random(seed + i);
            new Thread(() -> {
                        while (!ended) {
                            work("key-" + random.nextInt(keys), random);
                        }
                    })
                    .start();
        }
        return "works";
    }

    private void work(String key, Random random) {
        String attempt = UUID.randomUUID().toString();
        Point stay = Point.values()[random.nextInt(Point.values().length)];
        long nanos = Duration.ofMillis(random.nextInt(LONGEST_STAY_MILLIS)).toNanos();
        Set<Point> reached = EnumSet.noneOf(Point.class);
        LockRequest request = LockRequest.of(key).ttl(SHORT_TTL).waitTime(Duration.ofSeconds(20));
        Consumer<Point> at = point -> {
            reached.add(point);
            if (point == stay) {
                LockSupport.parkNanos(nanos);
            }
        };
        try {
            if (random.nextBoolean()) {
                rounds.run(request, attempt, at);
            } else {
                rounds.runInside(request, attempt, at);
            }
            committed.add(attempt);
        } catch (LockLostException ex) {
            if (reached.contains(Point.COMMITTED)) {
                committed.add(attempt);
                lostAfterCommit.incrementAndGet();
            } else {
                refused.add(attempt);
            }
        } catch (LockException ex) {
            // The lock was not acquired, or the store did not answer during the pause.
            if (reached.contains(Point.BEGUN)) {
                refused.add(attempt);
            }
        }
        // The interrupt of a loss may come late.
        Thread.interrupted();
        done.incrementAndGet();
    }

    private String end() {
        ended = true;
        return "ends";
    }

    private static void await(CountDownLatch latch) {
        boolean interrupted = false;
        while (true) {
            try {
                latch.await();
                break;
            } catch (InterruptedException ex) {
                // The loss interrupts the body, which stays nevertheless.
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
