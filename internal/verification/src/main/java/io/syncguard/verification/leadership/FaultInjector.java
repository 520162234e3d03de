package io.syncguard.verification.leadership;

import io.syncguard.leader.LeaderProcess;
import io.syncguard.verification.leadership.MemberGroup.Member;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** Makes the leader or the server fail. Each method runs on the caller's thread and ends when the fault is over. */
final class FaultInjector {

    private static final long TTL_NANOS = LeaderProcess.TTL.toNanos();

    private final MemberGroup group;
    private final LeadershipServer server;

    FaultInjector(MemberGroup group, LeadershipServer server) {
        this.group = group;
        this.server = server;
    }

    void resign(Member leader) {
        leader.process().ask("resign");
    }

    void pause(Member leader) {
        leader.process().pause();
        group.awaitSuccessor(leader);
        leader.process().resume();
        // The answer shows that the process runs again.
        leader.process().ask("leads");
    }

    void kill(Member leader) {
        leader.process().kill();
        leader.proxy().close();
        group.replace(leader);
    }

    /**
     * Keeps all processes from starting threads while one leader resigns and the next one loses the lock. All connect
     * before that, because a driver may need a thread to connect.
     */
    void takeThreads(Member leader) {
        group.awaitQueue();
        group.members().forEach(member -> member.process().takeThreads("short of threads"));
        leader.process().ask("resign");
        Member successor = group.awaitSuccessor(leader);
        successor.proxy().fallSilent();
        group.awaitSuccessor(successor);
        successor.proxy().speakAgain();
        group.members().forEach(member -> member.process().giveThreads("enough threads"));
        group.awaitQueue();
    }

    void silence(Member leader) {
        leader.proxy().fallSilent();
        group.awaitSuccessor(leader);
        leader.proxy().speakAgain();
    }

    void cut(Member leader) {
        leader.proxy().cut();
    }

    void reset(Member leader) {
        leader.proxy().reset();
    }

    /** Delays confirmations more and more, in the end beyond the end of the lease. */
    void delay(Member leader) {
        for (int tenths = 3; tenths <= 12; tenths += 3) {
            leader.proxy().delayAnswers(LeaderProcess.TTL.multipliedBy(tenths).dividedBy(10));
            LockSupport.parkNanos(TTL_NANOS / 2);
        }
        leader.proxy().delayAnswers(Duration.ZERO);
    }

    void restartServer(Member leader) {
        server.stop();
        LockSupport.parkNanos(TTL_NANOS);
        server.start();
    }
}
