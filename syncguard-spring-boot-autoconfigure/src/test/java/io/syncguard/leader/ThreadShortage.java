package io.syncguard.leader;

import io.syncguard.LockHandle;
import io.syncguard.LockListener;
import io.syncguard.LockRequest;
import io.syncguard.concurrent.Time;
import io.syncguard.core.EngineSettings;
import io.syncguard.core.InMemoryLockBackend;
import io.syncguard.core.LockEngine;
import io.syncguard.core.TransactionBoundary;
import io.syncguard.testing.ChildJvm;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;

/** A process that can make no more threads, with two members of an election. To be started by a test. */
final class ThreadShortage {

    private static final String NAME = "scheduler";

    /** For what is no thread: classes, compiled code, memory of the JVM itself. */
    private static final int RESERVE_MEGABYTES = 128;

    private final InMemoryLockBackend.Store store =
            new InMemoryLockBackend.Store(() -> Time.SYSTEM.nanoTime() / 1_000_000);
    private final LockEngine locks = engine();
    private final List<String> news = new CopyOnWriteArrayList<>();
    private final LeaderElection one = election("one", locks);
    private final LeaderElection two = election("two", engine());
    private final AtomicReference<LockHandle> lost = new AtomicReference<>();
    private final CountDownLatch idle = new CountDownLatch(1);

    public static void main(String[] arguments) throws IOException {
        ThreadShortage process = new ThreadShortage();
        ChildJvm.serve(question -> {
            try {
                return process.answer(question);
            } catch (InterruptedException ex) {
                throw new IllegalStateException(ex);
            }
        });
    }

    private String answer(String question) throws InterruptedException {
        return switch (question) {
            case "join" -> {
                one.join(NAME).runWhileLeader(term -> news.add("one works"));
                while (!one.isLeader(NAME)) {
                    Thread.onSpinWait();
                }
                two.join(NAME);
                lost.set(locks.acquire(LockRequest.of("lost").noHeartbeat()));
                lost.get().onLost(() -> news.add("callback of a loss"));
                yield "joined";
            }
            case "exhaust" -> exhaust();
            case "make a thread" -> startThread(0) == null ? "none can be made" : "made";
            case "resign" -> {
                (one.isLeader(NAME) ? one : two).member(NAME).resign();
                yield "resigned";
            }
            case "lose" -> {
                store.expire("leader:" + NAME);
                store.expire("lost");
                yield "lost: " + !lost.get().extend(Duration.ofSeconds(30));
            }
            case "release" -> {
                LockHandle lock = locks.acquire(LockRequest.of("released"));
                yield "released: " + lock.release() + ", taken: " + locks.isLocked("released");
            }
            case "join another" -> join();
            case "recover" -> {
                idle.countDown();
                yield "recovers";
            }
            case "news" -> news.stream().sorted().collect(Collectors.joining(", "));
            default -> throw new IllegalArgumentException(question);
        };
    }

    private String join() {
        try {
            return "joined: " + one.join("another").isJoined();
        } catch (OutOfMemoryError ex) {
            return "joined: " + one.member("another").isJoined() + ", " + ex.getMessage();
        }
    }

    /** Takes all that is left for threads but the reserve, which is too small for one. */
    private String exhaust() throws InterruptedException {
        CountDownLatch reserved = new CountDownLatch(1);
        Thread reserve = new Thread(null, () -> await(reserved), "reserve", RESERVE_MEGABYTES * 1024L * 1024);
        reserve.setDaemon(true);
        reserve.start();
        int made = 0;
        for (long stack = 1 << 30; stack >= 1 << 23; stack /= 2) {
            while (startThread(stack) != null) {
                made++;
            }
        }
        reserved.countDown();
        reserve.join();
        return made > 0 ? "exhausted" : "nothing was left";
    }

    private Thread startThread(long stack) {
        Thread thread = new Thread(null, () -> await(idle), "idle", stack);
        thread.setDaemon(true);
        try {
            thread.start();
            return thread;
        } catch (OutOfMemoryError ex) {
            return null;
        }
    }

    private LockEngine engine() {
        return new LockEngine(
                new InMemoryLockBackend(store),
                EngineSettings.defaults("test"),
                TransactionBoundary.NONE,
                List.<LockListener>of());
    }

    private LeaderElection election(String member, LockEngine engine) {
        LeaderElection election = new LeaderElection(engine, member, Duration.ofSeconds(10));
        election.addListener(new LeaderListener() {
            @Override
            public void elected(LeaderElectedEvent event) {
                news.add(member + " elected " + event.fence().value());
            }

            @Override
            public void revoked(LeaderRevokedEvent event) {
                news.add(member + " revoked " + event.fence().value() + " " + event.reason());
            }
        });
        election.start();
        election.define(NAME, LeaderSettings.of(Duration.ofSeconds(3)).fenceRotation(Duration.ZERO), engine);
        return election;
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
    }
}
