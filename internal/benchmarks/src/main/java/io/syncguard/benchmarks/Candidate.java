package io.syncguard.benchmarks;

import io.syncguard.LockManager;
import io.syncguard.leader.LeaderElectedEvent;
import io.syncguard.leader.LeaderElection;
import io.syncguard.leader.LeaderListener;
import io.syncguard.leader.LeaderMember;
import io.syncguard.leader.LeaderSettings;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.springframework.context.ConfigurableApplicationContext;

/** The membership of this process in an election. It records the time of each election of the process. */
final class Candidate {

    private static final long PATIENCE_SECONDS = 60;
    private static final long LOOK_NANOS = 1_000_000;

    private final BlockingQueue<Long> elected = new LinkedBlockingQueue<>();
    private final LockManager locks;
    private final String key;
    private final LeaderMember member;

    Candidate(ConfigurableApplicationContext application, String election, LeaderSettings settings) {
        LeaderElection elections = application.getBean(LeaderElection.class);
        elections.addListener(new LeaderListener() {
            @Override
            public void elected(LeaderElectedEvent event) {
                elected.add(System.nanoTime());
            }
        });
        this.locks = application.getBean(LockManager.class);
        this.key = "leader:" + election;
        this.member = elections.join(election, settings);
    }

    /** Waits for the next election of this process, and returns its time. Returns each election once. */
    long awaitElection() throws InterruptedException {
        Long time = elected.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
        if (time == null) {
            throw new IllegalStateException("Not elected within " + PATIENCE_SECONDS + " s");
        }
        return time;
    }

    /** Resigns as soon as another member waits, and returns the time of the resignation. */
    long resign() {
        // Otherwise this process may be elected again.
        while (locks.admin().status(key).filter(status -> status.waiters() > 0).isEmpty()) {
            LockSupport.parkNanos(LOOK_NANOS);
        }
        long time = System.nanoTime();
        member.resign();
        return time;
    }
}
