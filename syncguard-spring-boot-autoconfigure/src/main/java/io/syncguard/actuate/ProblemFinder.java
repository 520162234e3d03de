package io.syncguard.actuate;

import io.syncguard.LockLimits;
import io.syncguard.LockStatus;
import io.syncguard.core.ProcessStatus;
import io.syncguard.core.StoreOutage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Finds problems for an operator in the data of the endpoint. */
final class ProblemFinder {

    /** The alert rule for hanging locks has the same time. */
    static final Duration LONG_HELD = Duration.ofMinutes(15);

    /** As in the alert rule for growing queues. */
    static final int LONG_QUEUE = 10;

    private static final Duration LATELY = Duration.ofMinutes(1);

    /** How many locks with the same problem have an advice of their own. */
    static final int MAX_OF_A_KIND = 3;

    private final List<AdviceDescriptor> advice = new ArrayList<>();

    private final List<Hold> longHeld = new ArrayList<>();

    private final List<LockStatus> longQueues = new ArrayList<>();

    private final KeyView view;

    ProblemFinder(KeyView view) {
        this.view = view;
    }

    /** The advice on what it has looked at. The worst of many locks with the same problem stand for all. */
    List<AdviceDescriptor> advice() {
        List<AdviceDescriptor> all = new ArrayList<>(advice);
        longHeld.stream()
                .sorted(Comparator.comparing(Hold::held).reversed())
                .limit(MAX_OF_A_KIND)
                .forEach(hold -> all.add(new AdviceDescriptor(
                        view.show(hold.lock().key()),
                        hold.owner() + " has held it for " + hold.held().toMinutes() + " minutes",
                        "Look at a thread dump of that process. holdAtMost ends such bodies, and a release by force"
                                + " ends the lease")));
        addRest(all, longHeld.size(), "leases have been held for more than " + LONG_HELD.toMinutes() + " minutes");
        longQueues.stream()
                .sorted(Comparator.comparing(LockStatus::waiters).reversed())
                .limit(MAX_OF_A_KIND)
                .forEach(lock -> all.add(new AdviceDescriptor(
                        view.show(lock.key()),
                        lock.waiters() + " wait for it, " + arrivedLately(lock) + " of them for less than a minute",
                        "Look at how long it is held; make the body shorter, or the key finer")));
        addRest(all, longQueues.size(), "keys have " + LONG_QUEUE + " waiters or more");
        return all;
    }

    private static void addRest(List<AdviceDescriptor> all, int found, String problem) {
        if (found > MAX_OF_A_KIND) {
            all.add(new AdviceDescriptor(
                    null, (found - MAX_OF_A_KIND) + " more " + problem, "Look for what they have in common"));
        }
    }

    void lookAt(ProcessStatus process) {
        StoreOutage outage = process.outage();
        if (outage != null) {
            add(
                    null,
                    process.backend() + " has not answered for "
                            + outage.elapsed().toSeconds() + " s"
                            + (process.overdue() == 0
                                    ? ""
                                    : ", and " + process.overdue() + " of " + process.held()
                                            + " locks are lost unless they are extended soon"),
                    "Look at the server and the network. The last error: "
                            + (view.isPlain() ? outage.message() : outage.code()));
        } else if (process.overdue() > 0) {
            add(
                    null,
                    process.overdue() + " of " + process.held() + " locks in " + process.backend()
                            + " could not be extended in time",
                    "Look for slow statements, and for pauses of this process");
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
        lock.holders().stream()
                .map(holder -> new Hold(lock, holder.owner(), Duration.between(holder.acquiredAt(), lock.at())))
                .filter(hold -> hold.held().compareTo(LONG_HELD) > 0)
                .forEach(longHeld::add);
        if (lock.waiters() >= LONG_QUEUE) {
            longQueues.add(lock);
        }
    }

    private record Hold(LockStatus lock, String owner, Duration held) {}

    private static long arrivedLately(LockStatus lock) {
        return lock.queue().stream()
                .filter(waiter -> Duration.between(waiter.since(), lock.at()).compareTo(LATELY) < 0)
                .count();
    }

    private void add(@Nullable String subject, String problem, String action) {
        advice.add(new AdviceDescriptor(subject, problem, action));
    }
}
