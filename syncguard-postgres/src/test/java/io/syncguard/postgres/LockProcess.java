package io.syncguard.postgres;

import io.syncguard.LockEvent;
import io.syncguard.LockHandle;
import io.syncguard.LockListener;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.core.DefaultSettings;
import io.syncguard.core.LockEngine;
import io.syncguard.core.TransactionBoundary;
import io.syncguard.spi.LockBackend;
import io.syncguard.testing.ChildJvm;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A process that locks, for tests with several: the main class of a {@link ChildJvm}. Its commands are the methods of
 * {@link #answer}; keys and lock ids have no blanks.
 */
final class LockProcess implements LockListener {

    /**
     * A gap of this length between two looks counts as a pause. Others get the key this long after the deadline of its
     * holder, at the earliest.
     */
    private static final Duration PAUSE = Duration.ofMillis(LockBackend.TOLERANCE_MILLIS);

    private final List<String> events = new CopyOnWriteArrayList<>();
    private final LockEngine locks;

    /** What a body observed while its process was paused. */
    private final List<String> report = new CopyOnWriteArrayList<>();

    private final List<LockHandle.State> states = new CopyOnWriteArrayList<>();
    /** The first answer of the handle after the last pause of the process. Written by the watching thread. */
    private volatile LockHandle.@Nullable State firstLook;

    private final CountDownLatch working = new CountDownLatch(1);
    private final CountDownLatch ended = new CountDownLatch(1);
    private final CountDownLatch watched = new CountDownLatch(1);

    private LockProcess(String url) {
        this.locks = new LockEngine(
                PooledPostgres.on(url), DefaultSettings.of("child"), TransactionBoundary.NONE, List.of(this));
    }

    /** @param arguments the JDBC URL */
    public static void main(String[] arguments) throws IOException {
        LockProcess process = new LockProcess(arguments[0]);
        ChildJvm.serve(question -> process.answer(question.split(" ")));
    }

    @Override
    public void acquired(LockEvent event) {
        events.add("acquired");
    }

    @Override
    public void extended(LockEvent event) {
        events.add("extended");
    }

    @Override
    public void released(LockEvent event) {
        events.add("released");
    }

    @Override
    public void lost(LockEvent event) {
        events.add("lost");
    }

    private String answer(String[] words) {
        return switch (words[0]) {
            case "acquire" -> locks.acquire(request(words[1], words[2])).lockId();
            case "work" -> work(request(words[1], words[2]));
            case "report" -> report();
            case "events" -> String.join(" ", events);
            case "owns" -> String.valueOf(locks.owns(words[1]));
            case "fence" ->
                locks.admin()
                        .lookupById(words[1])
                        .map(info -> info.fence().toString())
                        .orElse("none");
            case "extend" ->
                String.valueOf(locks.extend(words[1], millis(words[2])).isPresent());
            case "release" -> String.valueOf(locks.release(words[1]));
            case "close" -> {
                locks.close();
                yield "closed";
            }
            default -> throw new IllegalArgumentException(words[0]);
        };
    }

    private static LockRequest request(String key, String ttl) {
        return LockRequest.of(key).ttl(millis(ttl));
    }

    private static Duration millis(String millis) {
        return Duration.ofMillis(Long.parseLong(millis));
    }

    /** Runs a body under the lock until it is interrupted. */
    private String work(LockRequest request) {
        start(() -> {
            report.add(
                    "template " + outcomeOf(() -> new LockTemplate(locks).executeWithoutResult(request, this::body)));
            ended.countDown();
        });
        return await(working);
    }

    private void body(LockHandle lock) {
        start(() -> watch(lock));
        working.countDown();
        try {
            new CountDownLatch(1).await();
        } catch (InterruptedException ex) {
            report.add("interrupted " + lock.state());
        }
        report.add("extend " + lock.extend(Duration.ofMinutes(1)));
        report.add("join "
                + outcomeOf(() ->
                        new LockTemplate(locks).executeWithoutResult(lock.request(), inner -> report.add("acted"))));
    }

    /** Records each change of the handle's answers until it is lost, and the first answer after a pause. */
    private void watch(LockHandle lock) {
        for (long before = System.nanoTime(); watched.getCount() > 0; ) {
            long now = System.nanoTime();
            LockHandle.State state = lock.state();
            if (now - before > PAUSE.toNanos()) {
                firstLook = state;
            }
            before = now;
            if (states.isEmpty() || states.get(states.size() - 1) != state) {
                states.add(state);
            }
            if (state == LockHandle.State.LOST) {
                watched.countDown();
            }
            LockSupport.parkNanos(1_000_000);
        }
    }

    private String report() {
        await(ended);
        await(watched);
        return String.join(", ", report) + ", states " + states + ", first look " + firstLook;
    }

    private static String outcomeOf(Runnable call) {
        try {
            call.run();
            return "done";
        } catch (RuntimeException ex) {
            return ex.getClass().getSimpleName();
        }
    }

    private static void start(Runnable work) {
        Thread thread = new Thread(work, "work");
        thread.setDaemon(true);
        thread.start();
    }

    private static String await(CountDownLatch latch) {
        try {
            return latch.await(50, TimeUnit.SECONDS) ? "done" : "not in time";
        } catch (InterruptedException ex) {
            throw new IllegalStateException(ex);
        }
    }
}
