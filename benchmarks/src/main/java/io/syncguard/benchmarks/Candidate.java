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

/** This process in an election, which tells when it was elected. */
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

    /** When it was elected, as soon as it has been: each election is told once. */
    long elected() throws InterruptedException {
        Long time = elected.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
        if (time == null) {
            throw new IllegalStateException("Not elected within " + PATIENCE_SECONDS + " s");
        }
        return time;
    }

    /** Has it give the leadership to the next one, and tells when that was. */
    long resign() {
        long time = System.nanoTime();
        member.resign();
        return time;
    }
}
