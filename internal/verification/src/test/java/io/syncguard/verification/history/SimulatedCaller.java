package io.syncguard.verification.history;

import io.syncguard.LockMode;
import io.syncguard.rules.StoredLease;
import io.syncguard.verification.history.HistoryEvent.Kind;
import io.syncguard.verification.history.HistoryEvent.Lease;
import io.syncguard.verification.history.HistoryEvent.Outcome;
import java.util.List;

/** A caller of a simulation, with the lock that it holds by its own record; an empty lock id means none. */
final class SimulatedCaller {

    private static final long MILLI = 1_000_000;

    private final String process;
    private final SimulatedTime time;
    private final SimulatedServer server;
    private final SimulatedWakeUps wakeUps;
    private String lock = "";
    private boolean shared;
    private long fence;
    private long deadline;

    SimulatedCaller(String process, SimulatedTime time, SimulatedServer server, SimulatedWakeUps wakeUps) {
        this.process = process;
        this.time = time;
        this.server = server;
        this.wakeUps = wakeUps;
    }

    String process() {
        return process;
    }

    /** Records a grant. */
    void hold(String lock, boolean shared, long fence, long deadline) {
        this.lock = lock;
        this.shared = shared;
        this.fence = fence;
        this.deadline = deadline;
    }

    /** Takes a random next action. */
    void next() {
        next(time.now());
    }

    private void next(long now) {
        loseIfOver(now);
        if (time.isStopping()) {
            return;
        }
        int what = time.random(100);
        if (what < 15) {
            lookAtKey(now);
        } else if (what < 18) {
            endInStore(now);
        } else if (lock.isEmpty()) {
            acquire(now);
        } else if (what < 35) {
            observe(now);
            again(now + 1);
        } else if (what < 50) {
            extend(now);
        } else if (what < 60 && !shared) {
            write(now);
        } else if (what < 65) {
            // The caller abandons the lock, so the lease lapses.
            lock = "";
            again(now);
        } else if (what < 70) {
            // The caller pauses in its work for longer than any lease and the tolerance.
            time.later(now, 1500 + time.random(1500), () -> {
                if (shared) {
                    next();
                } else {
                    write(time.now());
                }
            });
        } else {
            release(lock, now);
        }
    }

    /** Takes the next action a little later. */
    void again(long now) {
        time.later(now, 1 + time.random(40), this::next);
    }

    private void acquire(long start) {
        shared = time.random(100) < 60;
        int permits = shared && time.randomBoolean() ? 1 + time.random(3) : 0;
        boolean handed = time.random(100) < 40;
        long ttl = handed ? SimulatedServer.WAITER_TTL + time.random(1000) : 20 + time.random(600);
        new SimulatedWaiter(this, Lease.ofTtl(ttl).shared(shared).permits(permits), time, server, wakeUps)
                .acquire(handed || time.random(100) < 70, start);
    }

    private void extend(long start) {
        String extended = lock;
        long ttl = 20 + time.random(600);
        HistoryEvent asked = time.event(process, Kind.EXTEND, extended, start).with(Lease.ofTtl(ttl));
        boolean answerIsLost = time.random(100) < 5;
        time.later(start, time.random(5), () -> {
            long end = time.now() + time.random(5);
            boolean live = server.extend(extended, ttl, time.now());
            if (answerIsLost) {
                deadline = Math.min(deadline, start + ttl);
                time.record(asked.answered(end * MILLI, Outcome.UNKNOWN));
            } else {
                time.record(
                        live
                                ? asked.answered(end * MILLI, Outcome.OK)
                                        .with(Lease.extended(
                                                ttl, server.row(extended).expiresAt()))
                                : asked.answered(end * MILLI, Outcome.NOT_HELD));
                if (live && end < deadline) {
                    deadline = start + ttl;
                } else {
                    lose(end);
                }
            }
            again(end);
        });
    }

    /** Gives back the lease of the lock id, or leaves the queue. */
    void release(String released, long start) {
        HistoryEvent asked = time.event(process, Kind.RELEASE, released, start);
        boolean holds = lock.equals(released);
        long releasedFence = fence;
        lock = "";
        boolean answerIsLost = time.random(100) < 5;
        time.later(start, time.random(5), () -> {
            long end = time.now() + time.random(5);
            Outcome outcome = server.release(released, time.now());
            time.record(asked.answered(end * MILLI, answerIsLost ? Outcome.UNKNOWN : outcome));
            if (holds && outcome == Outcome.OK) {
                HistoryEvent given = time.event(process, Kind.HANDLE_RELEASED, released, start);
                time.record(given.answered(end * MILLI, Outcome.OK).with(Lease.ofFence(releasedFence)));
            }
            again(end);
        });
    }

    /** Ends a lease in the store, as an administrator does. */
    private void endInStore(long start) {
        for (String lockId : server.end(time.now())) {
            HistoryEvent ended = time.event("people", Kind.ENDED, lockId, start);
            time.record(ended.answered((start + 1) * MILLI, Outcome.OK));
        }
        again(start);
    }

    private void lookAtKey(long start) {
        HistoryEvent asked = time.event(process, Kind.LOOKUP, "", start);
        time.later(start, time.random(5), () -> {
            long end = time.now() + time.random(5);
            List<String> live = server.live(time.now());
            if (live.isEmpty()) {
                time.record(asked.answered(end * MILLI, Outcome.NOT_HELD));
            } else {
                String found = live.get(time.random(live.size()));
                StoredLease row = server.row(found);
                boolean isShared = row.mode() == LockMode.SHARED;
                time.record(asked.ofLock(found)
                        .answered(end * MILLI, Outcome.OK)
                        .with(new Lease(row.fence().value(), 0, row.acquiredAt(), row.expiresAt(), isShared)));
            }
            again(end);
        });
    }

    private void write(long start) {
        HistoryEvent asked = time.event(process, Kind.EFFECT, lock, start).with(Lease.ofFence(fence));
        time.later(start, time.random(5), () -> {
            long number = server.nextWrite();
            boolean held = time.now() < deadline;
            time.record(asked.answered(time.now() * MILLI, held ? Outcome.OK : Outcome.NOT_HELD)
                    .with(number));
            again(time.now());
        });
    }

    /** Records that the lock is held. */
    void observe(long now) {
        HistoryEvent held = time.event(process, Kind.HELD, lock, now);
        time.record(held.answered(now * MILLI, Outcome.OK).with((deadline - now) * MILLI));
    }

    private void loseIfOver(long now) {
        if (!lock.isEmpty() && now >= deadline) {
            lose(now);
        }
    }

    private void lose(long now) {
        HistoryEvent lost = time.event(process, Kind.LOST, "", now);
        time.record(lost.answered(now * MILLI, Outcome.OK).with(Lease.ofFence(fence)));
        HistoryEvent seen = time.event(process, Kind.LOSS_SEEN, lock, now);
        time.record(seen.answered(now * MILLI, Outcome.OK));
        lock = "";
    }
}
