package io.syncguard.actuate;

import io.syncguard.LockLimits;
import io.syncguard.LockStatus;
import io.syncguard.core.ProcessStatus;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Finds problems for an operator in the data of the endpoint. */
final class ProblemFinder {

    /** As in the alert rule for hanging locks. */
    static final Duration LONG_HELD = Duration.ofMinutes(15);

    /** As in the alert rule for growing queues. */
    static final int LONG_QUEUE = 10;

    private static final Duration LATELY = Duration.ofMinutes(1);

    private final List<AdviceDescriptor> advice = new ArrayList<>();

    private final KeyView view;

    ProblemFinder(KeyView view) {
        this.view = view;
    }

    List<AdviceDescriptor> advice() {
        return List.copyOf(advice);
    }

    void lookAt(ProcessStatus process) {
        if (process.failedHeartbeats() > 0 && process.held() > 0) {
            add(
                    null,
                    process.failedHeartbeats() + " heartbeats to " + process.backend() + " have failed, and "
                            + process.held() + " locks are about to be lost",
                    "Look at the server and the network");
        }
        if (process.waiting() > 0 && Boolean.FALSE.equals(process.wakeUps())) {
            add(
                    null,
                    "Wake-ups from " + process.backend() + " do not arrive, so " + process.waiting() + " callers poll",
                    "Look for the warning 'Wake-ups … do not arrive' in the log");
        }
        if (process.pool() != null && process.pool().awaiting() > 0) {
            add(
                    null,
                    process.pool().awaiting() + " threads wait for one of the "
                            + process.pool().maximum() + " connections of the library",
                    "Look for slow statements; or raise syncguard." + process.backend() + ".pool-size");
        }
    }

    void lookAt(String name, NameDescriptor locks) {
        if (locks.expired() > 0) {
            add(
                    name,
                    locks.expired() + " locks expired while they were held",
                    "Look for pauses of this process and outages of the server; a longer ttl survives them. Without"
                            + " heartbeats the ttl has to be longer than the longest body");
        }
        if (locks.failed() > 0) {
            add(
                    name,
                    locks.failed() + " operations failed",
                    "Look at the failed events, and at the log for those before");
        }
    }

    void lookAt(LockStatus lock) {
        // Leaders hold their locks for days, while the other members wait.
        if (lock.key().startsWith(LockLimits.ELECTION_PREFIX)) {
            return;
        }
        String shown = view.show(lock.key());
        lock.holders().forEach(holder -> {
            Duration held = Duration.between(holder.acquiredAt(), lock.at());
            if (held.compareTo(LONG_HELD) > 0) {
                add(
                        shown,
                        holder.owner() + " has held it for " + held.toMinutes() + " minutes",
                        "Look at a thread dump of that process. holdAtMost ends such bodies, and a release by force"
                                + " ends the lease");
            }
        });
        if (lock.waiters() >= LONG_QUEUE) {
            add(
                    shown,
                    lock.waiters() + " wait for it, " + arrivedLately(lock) + " of them for less than a minute",
                    "Look at how long it is held; make the body shorter, or the key finer");
        }
    }

    private static long arrivedLately(LockStatus lock) {
        return lock.queue().stream()
                .filter(waiter -> Duration.between(waiter.since(), lock.at()).compareTo(LATELY) < 0)
                .count();
    }

    private void add(@Nullable String subject, String problem, String action) {
        advice.add(new AdviceDescriptor(subject, problem, action));
    }
}
