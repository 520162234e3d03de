package io.syncguard.verification;

import io.syncguard.LockEvent;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockListener;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.LockRequest;
import io.syncguard.autoconfigure.ApplicationBackend;
import io.syncguard.core.EngineSettings;
import io.syncguard.core.LockEngine;
import io.syncguard.core.TransactionBoundary;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.LockBackend;
import io.syncguard.testing.ChildJvm;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A process whose waiters depend on wake-ups alone: a lease lives for hours, and the safety poll comes after an hour.
 * Some waiters accept a hand-over, others are woken. Half of the threads use a calm key, on which every caller waits to
 * the end. The other half use a restless key, on which some give up, are interrupted, or let a lease lapse early.
 * Bodies are empty.
 */
public final class WakeUpWorker implements LockListener {

    /** A longer wait can only have been ended by a poll, not by a wake-up. */
    static final Duration PATIENCE = Duration.ofSeconds(20);

    private static final Duration HOUR = Duration.ofHours(1);

    /** The safety poll comes every third of that, at the latest. */
    private static final Duration WAITER_TTL = HOUR.multipliedBy(3);

    /** A waiter with a shorter ttl does not accept a hand-over. */
    private static final Duration TTL = WAITER_TTL;

    private static final Duration NETWORK_TIMEOUT = Duration.ofSeconds(20);

    /** Long enough for the answer of the request. */
    private static final Duration SHORTENED = Duration.ofMillis(200);

    /** Between two leases that are shortened, each of which takes the tolerance of a second to lapse. */
    private static final long BETWEEN_SHORTENINGS_NANOS = 1_500_000_000L;

    /** How long the end may take, a little more than the longest wait. */
    private static final long END_SECONDS = PATIENCE.toSeconds() + 10;

    private final LockEngine locks;
    private final ScheduledExecutorService interrupter = Executors.newSingleThreadScheduledExecutor(work -> {
        Thread thread = new Thread(work, "interrupter");
        thread.setDaemon(true);
        return thread;
    });

    private final AtomicInteger handedOver = new AtomicInteger();
    private final AtomicInteger fetched = new AtomicInteger();
    private final AtomicInteger gaveUp = new AtomicInteger();
    private final AtomicInteger interrupted = new AtomicInteger();
    private final AtomicInteger shortened = new AtomicInteger();
    private final AtomicInteger failed = new AtomicInteger();
    private final AtomicLong longestWaitNanos = new AtomicLong();
    private final AtomicLong longestCalmWaitNanos = new AtomicLong();
    private final ThreadLocal<Boolean> waited = ThreadLocal.withInitial(() -> false);

    /** Whether the last acquire request of the thread was granted. */
    private final ThreadLocal<Boolean> granted = ThreadLocal.withInitial(() -> false);

    private List<Thread> threads = List.of();

    /** Written by the thread that answers, read by the clients. */
    private volatile boolean ended;

    private WakeUpWorker(String url) {
        EngineSettings settings = new EngineSettings("worker", TTL, PATIENCE, HOUR, HOUR, Duration.ZERO);
        locks = new LockEngine(
                watched(ApplicationBackend.on(url, 4, NETWORK_TIMEOUT, WAITER_TTL)),
                settings,
                TransactionBoundary.NONE,
                List.of(this));
    }

    private LockBackend watched(LockBackend backend) {
        return (LockBackend) Proxy.newProxyInstance(
                LockBackend.class.getClassLoader(), new Class<?>[] {LockBackend.class}, (proxy, method, arguments) -> {
                    try {
                        Object answer = method.invoke(backend, arguments);
                        if (answer instanceof AcquireResult) {
                            granted.set(answer instanceof AcquireResult.Granted);
                        }
                        return answer;
                    } catch (InvocationTargetException ex) {
                        throw ex.getCause();
                    }
                });
    }

    /** @param arguments the JDBC URL */
    public static void main(String[] arguments) throws IOException {
        WakeUpWorker worker = new WakeUpWorker(arguments[0]);
        ChildJvm.serve(question -> worker.answer(question.split(" ")));
    }

    @Override
    public void waitEnded(LockEvent event) {
        waited.set(true);
    }

    @Override
    public void acquired(LockEvent event) {
        if (waited.get()) {
            (granted.get() ? fetched : handedOver).incrementAndGet();
            waited.set(false);
        }
    }

    private String answer(String[] words) {
        return switch (words[0]) {
            case "work" ->
                work(
                        words[1],
                        new Random(Long.parseLong(words[2])),
                        Integer.parseInt(words[3]),
                        Boolean.parseBoolean(words[4]));
            case "progress" -> report();
            case "end" -> end();
            default -> throw new IllegalArgumentException(words[0]);
        };
    }

    private String work(String keys, Random random, int count, boolean shortens) {
        ended = false;
        List.of(handedOver, fetched, gaveUp, interrupted, shortened, failed).forEach(counter -> counter.set(0));
        longestWaitNanos.set(0);
        longestCalmWaitNanos.set(0);
        threads = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Client client = new Client(keys, i, i == 1 && shortens, new Random(random.nextLong()));
            Thread thread = new Thread(client, "client-" + i);
            thread.setDaemon(true);
            thread.start();
            threads.add(thread);
        }
        return "started";
    }

    /** Ends after the current work. */
    private String end() {
        ended = true;
        long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(END_SECONDS);
        try {
            for (Thread thread : threads) {
                thread.join(Math.max(1, (until - System.nanoTime()) / 1_000_000));
            }
        } catch (InterruptedException ex) {
            throw new IllegalStateException(ex);
        }
        return report();
    }

    private String report() {
        return new WakeUpReport(
                        (int) threads.stream().filter(Thread::isAlive).count(),
                        handedOver.get(),
                        fetched.get(),
                        gaveUp.get(),
                        interrupted.get(),
                        shortened.get(),
                        failed.get(),
                        longestWaitNanos.get() / 1_000_000,
                        longestCalmWaitNanos.get() / 1_000_000)
                .toLine();
    }

    /** One thread. */
    private final class Client implements Runnable {

        private final String key;
        private final boolean restless;
        private final boolean shortens;
        private final Random random;
        private long shortenedAt = System.nanoTime() - BETWEEN_SHORTENINGS_NANOS / 2;

        Client(String keys, int number, boolean shortens, Random random) {
            this.restless = number % 2 == 1;
            this.key = keys + (restless ? "-restless" : "-calm");
            this.shortens = shortens;
            this.random = random;
        }

        @Override
        public void run() {
            while (!ended) {
                if (!restless) {
                    use(request());
                } else if (shortens && System.nanoTime() - shortenedAt > BETWEEN_SHORTENINGS_NANOS) {
                    shorten();
                    shortenedAt = System.nanoTime();
                } else {
                    useRestlessly();
                }
            }
        }

        private void useRestlessly() {
            int what = random.nextInt(100);
            if (what < 10) {
                giveUp();
            } else if (what < 20) {
                beInterrupted();
            } else {
                use(request());
            }
        }

        private LockRequest request() {
            LockRequest request = LockRequest.of(key);
            // Writers with a heartbeat accept a hand-over.
            request = random.nextInt(3) == 0 ? request.noHeartbeat() : request;
            return random.nextInt(3) == 0 ? request.shared() : request;
        }

        private void use(LockRequest request) {
            long began = System.nanoTime();
            try {
                locks.acquire(request).release();
            } catch (LockException ex) {
                failed.incrementAndGet();
                ex.printStackTrace();
            } finally {
                long took = System.nanoTime() - began;
                longestWaitNanos.accumulateAndGet(took, Math::max);
                if (!restless) {
                    longestCalmWaitNanos.accumulateAndGet(took, Math::max);
                }
            }
        }

        private void giveUp() {
            try {
                locks.acquire(request().waitTime(Duration.ofMillis(1 + random.nextInt(20))))
                        .release();
            } catch (LockNotAcquiredException ex) {
                waited.set(false);
                gaveUp.incrementAndGet();
            }
        }

        private void beInterrupted() {
            Interrupt interrupt = new Interrupt(Thread.currentThread());
            interrupter.schedule(interrupt, random.nextInt(15_000), TimeUnit.MICROSECONDS);
            try {
                locks.acquire(request()).release();
            } catch (LockException ex) {
                waited.set(false);
                interrupted.incrementAndGet();
            } finally {
                interrupt.end();
            }
        }

        /** Ends the lease early without a release, by an extension or by {@code holdAtLeast}. */
        private void shorten() {
            try {
                if (random.nextBoolean()) {
                    shorten(locks.acquire(request().noHeartbeat()));
                } else {
                    locks.acquire(request().holdAtLeast(Duration.ofMillis(20))).release();
                }
                shortened.incrementAndGet();
            } catch (LockException ex) {
                failed.incrementAndGet();
                ex.printStackTrace();
            }
        }

        /** A lease that was not shortened is released: it would live for hours. */
        private static void shorten(LockHandle lock) {
            boolean shortened = false;
            try {
                shortened = lock.extend(SHORTENED);
            } finally {
                if (!shortened) {
                    lock.release();
                }
            }
        }
    }

    /** Interrupts a thread once, unless it has ended before. A future that is cancelled may still be running. */
    private static final class Interrupt implements Runnable {

        private final Thread target;

        /** Guarded by this. */
        private boolean ended;

        Interrupt(Thread target) {
            this.target = target;
        }

        @Override
        public synchronized void run() {
            if (!ended) {
                target.interrupt();
            }
        }

        /** Called by the target: no interrupt is left over for what comes next. */
        synchronized void end() {
            ended = true;
            Thread.interrupted();
        }
    }
}
