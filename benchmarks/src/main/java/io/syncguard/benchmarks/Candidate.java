package io.syncguard.benchmarks;

import io.syncguard.leader.LeaderElectedEvent;
import io.syncguard.leader.LeaderElection;
import io.syncguard.leader.LeaderListener;
import io.syncguard.leader.LeaderMember;
import io.syncguard.leader.LeaderSettings;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.springframework.context.ConfigurableApplicationContext;

/** This process in an election. It records the time of its election. */
final class Candidate {

    private static final long PATIENCE_SECONDS = 60;

    private final BlockingQueue<Long> elected = new LinkedBlockingQueue<>();
    private final LeaderMember member;

    Candidate(ConfigurableApplicationContext application, String election, LeaderSettings settings) {
        LeaderElection elections = application.getBean(LeaderElection.class);
        elections.addListener(new LeaderListener() {
            @Override
            public void elected(LeaderElectedEvent event) {
                elected.add(System.nanoTime());
            }
        });
        this.member = elections.join(election, settings);
    }

    /** Waits for the next election of this process, and returns its time: each election once. */
    long elected() throws InterruptedException {
        Long time = elected.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
        if (time == null) {
            throw new IllegalStateException("Not elected within " + PATIENCE_SECONDS + " s");
        }
        return time;
    }

    /** Resigns, and returns the time of the resignation. */
    long resign() {
        long time = System.nanoTime();
        member.resign();
        return time;
    }
}
