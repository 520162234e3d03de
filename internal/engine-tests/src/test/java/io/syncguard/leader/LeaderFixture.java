package io.syncguard.leader;

import static io.syncguard.core.EngineFixture.eventually;
import static io.syncguard.core.EngineFixture.inAnotherThread;

import io.syncguard.LockListener;
import io.syncguard.core.EngineFixture;
import io.syncguard.core.InterceptedBackend;
import io.syncguard.core.LockEngine;
import io.syncguard.memory.InMemoryLockBackend;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.testing.ScarceThreads;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * One process that takes part in elections, on a clock that the test moves. Registered in a test class it is closed
 * after each test.
 */
final class LeaderFixture implements AfterEachCallback {

    static final String NAME = "scheduler";
    static final String KEY = "leader:scheduler";
    static final Duration TTL = Duration.ofSeconds(15);
    static final Duration SHUTDOWN_TIMEOUT = Duration.ofSeconds(10);

    /** Settings that keep the fence for a whole term. */
    static final LeaderSettings STEADY = LeaderSettings.of(TTL).fenceRotation(Duration.ZERO);

    final EngineFixture process = new EngineFixture();

    /** The settings of the elections of this process. */
    final ScarceThreads threads = new ScarceThreads();

    final LeaderElection election =
            new LeaderElection(process.engine, "node-1", SHUTDOWN_TIMEOUT, process.time, threads);

    /** The events that listeners of all elections receive. */
    final List<String> events = new CopyOnWriteArrayList<>();

    /** The engines are closed after the elections on them. */
    private final List<AutoCloseable> others = new ArrayList<>();

    LeaderFixture() {
        election.addListener(recordingIn(events));
        election.start();
    }

    /**
     * A member of another process that shares the store and the clock. Its engine is connected, so releases of this
     * process wake it.
     */
    LeaderMember another(String owner) {
        InterceptedBackend backend = new InterceptedBackend(new InMemoryLockBackend(process.store));
        LockEngine engine = process.time.engineOn(backend, new LockListener() {});
        LeaderElection another = new LeaderElection(engine, owner, SHUTDOWN_TIMEOUT, process.time, Thread::new);
        others.add(another);
        others.add(engine);
        another.start();
        return another.define(NAME, STEADY, engine);
    }

    /** Lets it wait behind all others. */
    LeaderMember queued(LeaderMember member) {
        int before = process.store.queue(KEY).size();
        member.join();
        eventually().until(() -> process.store.queue(KEY).size() == before + 1);
        return member;
    }

    LeaderMember elected() {
        return elected(STEADY);
    }

    /**
     * Joins, and returns when the member leads and the event of its election was dispatched: a listener that is added
     * now receives the next events.
     */
    LeaderMember elected(LeaderSettings settings) {
        LeaderMember member = election.join(NAME, settings);
        eventually().until(() -> member.isLeader() && events.stream().anyMatch(each -> each.startsWith("elected")));
        return member;
    }

    /** Lets a member of another process lead, and never renew its lease. */
    AcquireRequest electedElsewhere() {
        return process.holdElsewhere(KEY, TTL);
    }

    /** Lets a member of this process wait behind all others. */
    LeaderMember queued() {
        LeaderMember member = queued(election.define(NAME, STEADY, process.engine));
        awaitSleepingCampaign();
        return member;
    }

    /**
     * Waits until the first campaign of this process sleeps in the queue. If the clock moves before, the sleep begins
     * later and is not over when the test expects it.
     */
    void awaitSleepingCampaign() {
        eventually()
                .until(() -> process.time.looks().keySet().stream()
                        .anyMatch(thread -> thread.getName().equals("syncguard-leader-" + NAME)));
    }

    void awaitEvents(String... expected) {
        eventually().until(() -> events.equals(List.of(expected)));
    }

    void advance(Duration by) {
        process.advanceSlowly(by, Duration.ofMillis(500));
    }

    static LeaderListener recordingIn(List<String> events) {
        return new LeaderListener() {
            @Override
            public void joined(LeaderMember member) {
                events.add("joined " + member.name());
            }

            @Override
            public void elected(LeaderElectedEvent event) {
                events.add("elected " + event.fence().value());
            }

            @Override
            public void fenceRotated(LeaderFenceRotatedEvent event) {
                events.add("rotated " + event.fence().value());
            }

            @Override
            public void revoked(LeaderRevokedEvent event) {
                events.add("revoked " + event.fence().value() + " " + event.reason());
            }
        };
    }

    /** Waits in a body or a request that is to hang, whatever interrupts it. */
    static void hangUntil(CountDownLatch released) {
        boolean interrupted = false;
        while (true) {
            try {
                released.await(1, TimeUnit.MINUTES);
                break;
            } catch (InterruptedException ex) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void afterEach(ExtensionContext context) {
        FutureTask<Void> closing = inAnotherThread(() -> {
            election.close();
            for (AutoCloseable other : others) {
                other.close();
            }
            return null;
        });
        eventually().until(() -> {
            process.time.advance(Duration.ofSeconds(1));
            return closing.isDone();
        });
        process.close();
    }
}
