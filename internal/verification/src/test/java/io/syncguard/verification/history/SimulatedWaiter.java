package io.syncguard.verification.history;

import io.syncguard.rules.StoredLease;
import io.syncguard.rules.WakeUp;
import io.syncguard.spi.AcquireResult;
import io.syncguard.verification.history.HistoryEvent.Kind;
import io.syncguard.verification.history.HistoryEvent.Lease;
import io.syncguard.verification.history.HistoryEvent.Outcome;

/** One acquisition of a simulated caller: its acquire requests, and its queue entry while it sleeps between them. */
final class SimulatedWaiter {

    private static final long MILLI = 1_000_000;

    private final SimulatedCaller caller;
    private final String lock;
    private final Lease wanted;
    private final SimulatedTime time;
    private final SimulatedServer server;

    /** The action on a wake-up; null while the waiter does not sleep. */
    private Runnable sleeper;

    /** The number of the last acquire request. */
    private long lastAcquire;

    /** The send time of the last request that confirmed the queue entry. */
    private long confirmedAt;

    SimulatedWaiter(
            SimulatedCaller caller,
            Lease wanted,
            SimulatedTime time,
            SimulatedServer server,
            SimulatedWakeUps wakeUps) {
        this.caller = caller;
        this.lock = wakeUps.newLock();
        this.wanted = wanted;
        this.time = time;
        this.server = server;
        wakeUps.subscribe(lock, this);
    }

    void acquire(boolean waits, long start) {
        HistoryEvent asked =
                time.event(caller.process(), Kind.ACQUIRE, lock, start).with(wanted);
        lastAcquire = asked.source().number();
        long travels = time.random(5);
        if (time.random(100) < (waits ? 1 : 5)) {
            time.record(asked.answered((start + travels) * MILLI, Outcome.UNKNOWN));
            if (time.randomBoolean()) {
                // The request arrives long after its client has given up.
                time.later(start, travels + time.random(200), () -> server.acquire(asked, waits, time.now()));
            }
            time.later(start, travels + time.random(300), () -> caller.release(lock, time.now()));
            return;
        }
        time.later(start, travels, () -> {
            long end = time.now() + time.random(5);
            answered(asked, server.acquire(asked, waits, time.now()), start, end);
        });
    }

    private void answered(HistoryEvent asked, Outcome outcome, long start, long end) {
        HistoryEvent answered = asked.answered(end * MILLI, outcome);
        if (outcome == Outcome.OK) {
            StoredLease row = server.row(lock);
            long fence = row.fence().value();
            caller.hold(lock, wanted.shared(), fence, start + wanted.ttl());
            time.record(
                    answered.with(new Lease(fence, wanted.ttl(), row.acquiredAt(), row.expiresAt(), false).as(wanted)));
            caller.again(end);
            return;
        }
        time.record(answered.with(5000));
        if (outcome == Outcome.QUEUED) {
            confirmedAt = start;
            sleep(end);
        } else {
            caller.again(end);
        }
    }

    /** Sleeps until a wake-up, a poll, a renewal of the queue entry, or the end of the wait; sometimes too long. */
    private void sleep(long from) {
        int what = time.random(100);
        if (time.isStopping() || what < 5) {
            caller.release(lock, from + 1);
        } else if (what < 15) {
            time.later(from, time.random(40), () -> acquire(false, time.now()));
        } else if (what < 40) {
            renew(from + 1);
        } else {
            time.later(from, 0, () -> {
                boolean tooLong = what < 42;
                sleeper = tooLong ? () -> renew(time.now()) : () -> acquire(true, time.now());
                time.later(time.now(), tooLong ? SimulatedServer.WAITER_TTL + 1000 : time.random(2000), this::wake);
            });
        }
    }

    private void renew(long start) {
        HistoryEvent asked = time.event(caller.process(), Kind.RENEW, lock, start);
        time.later(start, time.random(5), () -> {
            long end = time.now() + time.random(5);
            if (server.renew(lock, time.now())) {
                time.record(asked.answered(end * MILLI, Outcome.OK));
                confirmedAt = start;
                sleep(end);
            } else {
                time.record(asked.answered(end * MILLI, Outcome.NOT_HELD));
                acquire(true, end + 1);
            }
        });
    }

    /** @param late whether the deadline of a first lease counts from the message, which is a bug */
    void receive(WakeUp message, boolean late) {
        if (message.handOver() == null) {
            wake();
        } else {
            handedOver(message.waiterNumber(), message.handOver(), late);
        }
    }

    private void wake() {
        Runnable acquire = sleeper;
        sleeper = null;
        if (acquire != null) {
            acquire.run();
        }
    }

    /**
     * A sleeping client accepts the hand-over, unless it belongs to an earlier acquire request. A client with a pending
     * request will find the grant.
     */
    private void handedOver(long acquire, AcquireResult.Granted grant, boolean late) {
        long fence = grant.fence().value();
        HistoryEvent message = time.event(caller.process(), Kind.HANDED_OVER, lock, time.now());
        time.record(message.answered(message.start(), Outcome.OK)
                .with(new Lease(
                        fence,
                        SimulatedServer.WAITER_TTL,
                        grant.acquiredAt().toEpochMilli(),
                        grant.expiresAt().toEpochMilli(),
                        false))
                .with(acquire));
        if (sleeper == null || acquire != lastAcquire) {
            return;
        }
        long deadline = (late ? time.now() : confirmedAt) + SimulatedServer.WAITER_TTL;
        if (time.now() < deadline) {
            sleeper = null;
            caller.hold(lock, wanted.shared(), fence, deadline);
            caller.observe(time.now());
            caller.again(time.now());
        } else {
            wake();
        }
    }
}
