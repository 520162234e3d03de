package io.syncguard.stress;

import io.syncguard.stress.HistoryEvent.Kind;
import io.syncguard.stress.HistoryEvent.Lease;
import io.syncguard.stress.HistoryEvent.Outcome;
import io.syncguard.stress.HistoryEvent.Source;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Random;

/**
 * The model itself, played at random in its own time: a few clients that want one key, a server that acts somewhere between
 * question and answer, and answers that get lost. What it writes keeps the contract.
 */
final class HistorySimulator {

    private static final long SERVER_AHEAD = 1_700_000_000_000L;
    private static final long MILLI = 1_000_000;
    private static final int CLIENTS = 4;

    private final Random random;
    private final List<HistoryEvent> events = new ArrayList<>();
    private final PriorityQueue<Step> steps = new PriorityQueue<>(Comparator.comparingLong(Step::at));

    /** The time of the step that runs. */
    private long clock;

    /** The server: the lease, if there is a row, and the counter. */
    private String row = "";

    private long rowFence;
    private long rowAcquiredAt;
    private long rowExpiresAt;
    private long counter;
    private long numberOfWrites;
    private int locks;
    private boolean stopping;

    private HistorySimulator(long seed) {
        this.random = new Random(seed);
    }

    /** The events of this many steps of a key. */
    static List<HistoryEvent> simulate(long seed, int steps) {
        return new HistorySimulator(seed).simulate(steps);
    }

    /** What happens at a time, in milliseconds. */
    private record Step(long at, Runnable action) {}

    /** What a client holds, or believes to; nothing where the lock is empty. */
    private static final class Client {
        final String process;
        String lock = "";
        long fence;
        long deadline;

        Client(String process) {
            this.process = process;
        }
    }

    private List<HistoryEvent> simulate(int count) {
        for (int i = 0; i < CLIENTS; i++) {
            Client client = new Client("p" + i % 2);
            later(0, random.nextInt(20), () -> next(client, clock));
        }
        for (int i = 0; !steps.isEmpty(); i++) {
            // What was asked is answered; nothing new begins.
            stopping = i >= count;
            steps.remove().action().run();
        }
        HistoryEvent end = event("test", Kind.COUNTER, "", clock + 1000);
        events.add(end.answered(end.start(), Outcome.OK).with(Lease.ofFence(counter)));
        return events;
    }

    private void next(Client client, long now) {
        loseIfOver(client, now);
        if (stopping) {
            return;
        }
        int what = random.nextInt(100);
        if (what < 15) {
            lookAtKey(client, now);
        } else if (what < 18) {
            endByHand(client, now);
        } else if (client.lock.isEmpty()) {
            acquire(client, now);
        } else if (what < 35) {
            believe(client, now);
            again(client, now + 1);
        } else if (what < 50) {
            extend(client, now);
        } else if (what < 60) {
            write(client, now);
        } else if (what < 65) {
            // Abandoned: the lease lapses.
            client.lock = "";
            again(client, now);
        } else if (what < 70) {
            // Paused for longer than any lease is kept from others, in the middle of its work.
            later(now, 1500 + random.nextInt(1500), () -> write(client, clock));
        } else {
            release(client, client.lock, now);
        }
    }

    private void later(long now, long delay, Runnable action) {
        long at = now + delay;
        steps.add(new Step(at, () -> {
            clock = at;
            action.run();
        }));
    }

    private void again(Client client, long now) {
        later(now, 1 + random.nextInt(40), () -> next(client, clock));
    }

    private void acquire(Client client, long start) {
        String lock = "lock" + ++locks;
        long ttl = 20 + random.nextInt(600);
        HistoryEvent asked = event(client.process, Kind.ACQUIRE, lock, start).with(Lease.ofTtl(ttl));
        long travels = random.nextInt(5);
        if (random.nextInt(100) < 4) {
            HistoryEvent unknown = asked.answered((start + travels) * MILLI, Outcome.UNKNOWN);
            events.add(unknown);
            if (random.nextBoolean()) {
                // It arrives long after its client has given up.
                later(start, travels + random.nextInt(200), () -> tryToGrant(lock, ttl));
            }
            later(start, travels + random.nextInt(300), () -> release(client, lock, clock));
            return;
        }
        later(start, travels, () -> {
            long end = clock + random.nextInt(5);
            if (tryToGrant(lock, ttl)) {
                client.lock = lock;
                client.fence = rowFence;
                client.deadline = start + ttl;
                events.add(asked.answered(end * MILLI, Outcome.OK)
                        .with(new Lease(rowFence, ttl, rowAcquiredAt, rowExpiresAt)));
            } else {
                events.add(asked.answered(end * MILLI, Outcome.REFUSED).with(5000));
            }
            again(client, end);
        });
    }

    private boolean tryToGrant(String lock, long ttl) {
        if (isLive()) {
            return false;
        }
        row = lock;
        rowFence = ++counter;
        rowAcquiredAt = SERVER_AHEAD + clock;
        rowExpiresAt = rowAcquiredAt + ttl;
        return true;
    }

    private boolean isLive() {
        return !row.isEmpty() && rowExpiresAt > SERVER_AHEAD + clock - LeaseHistory.TOLERANCE_MILLIS;
    }

    private boolean isLive(String lock) {
        return row.equals(lock) && isLive();
    }

    private void extend(Client client, long start) {
        String lock = client.lock;
        long ttl = 20 + random.nextInt(600);
        HistoryEvent asked = event(client.process, Kind.EXTEND, lock, start).with(Lease.ofTtl(ttl));
        boolean answerIsLost = random.nextInt(100) < 5;
        later(start, random.nextInt(5), () -> {
            long end = clock + random.nextInt(5);
            boolean live = isLive(lock);
            if (live) {
                rowExpiresAt = SERVER_AHEAD + clock + ttl;
            }
            if (answerIsLost) {
                client.deadline = Math.min(client.deadline, start + ttl);
                events.add(asked.answered(end * MILLI, Outcome.UNKNOWN));
            } else if (live && end < client.deadline) {
                client.deadline = start + ttl;
                events.add(asked.answered(end * MILLI, Outcome.OK).with(new Lease(0, ttl, 0, rowExpiresAt)));
            } else {
                events.add(
                        live
                                ? asked.answered(end * MILLI, Outcome.OK).with(new Lease(0, ttl, 0, rowExpiresAt))
                                : asked.answered(end * MILLI, Outcome.NOT_HELD));
                lose(client, end);
            }
            again(client, end);
        });
    }

    private void release(Client client, String lock, long start) {
        HistoryEvent asked = event(client.process, Kind.RELEASE, lock, start);
        boolean holds = client.lock.equals(lock);
        long fence = client.fence;
        client.lock = "";
        boolean answerIsLost = random.nextInt(100) < 5;
        later(start, random.nextInt(5), () -> {
            long end = clock + random.nextInt(5);
            boolean live = isLive(lock);
            if (live) {
                row = "";
            }
            events.add(
                    asked.answered(end * MILLI, answerIsLost ? Outcome.UNKNOWN : live ? Outcome.OK : Outcome.NOT_HELD));
            if (holds && live) {
                HistoryEvent given = event(client.process, Kind.GIVEN_BACK, lock, start);
                events.add(given.answered(end * MILLI, Outcome.OK).with(Lease.ofFence(fence)));
            }
            again(client, end);
        });
    }

    /** As people do. */
    private void endByHand(Client client, long start) {
        HistoryEvent ended = event("people", Kind.ENDED, row, start);
        if (isLive()) {
            row = "";
            events.add(ended.answered((start + 1) * MILLI, Outcome.OK));
        }
        again(client, start);
    }

    private void lookAtKey(Client client, long start) {
        HistoryEvent asked = event(client.process, Kind.LOOKUP, "", start);
        later(start, random.nextInt(5), () -> {
            long end = clock + random.nextInt(5);
            events.add(
                    isLive()
                            ? asked.ofLock(row)
                                    .answered(end * MILLI, Outcome.OK)
                                    .with(new Lease(rowFence, 0, rowAcquiredAt, rowExpiresAt))
                            : asked.answered(end * MILLI, Outcome.NOT_HELD));
            again(client, end);
        });
    }

    private void write(Client client, long start) {
        HistoryEvent asked =
                event(client.process, Kind.EFFECT, client.lock, start).with(Lease.ofFence(client.fence));
        later(start, random.nextInt(5), () -> {
            long number = ++numberOfWrites;
            boolean held = clock < client.deadline;
            events.add(asked.answered(clock * MILLI, held ? Outcome.OK : Outcome.NOT_HELD)
                    .with(number));
            again(client, clock);
        });
    }

    private void believe(Client client, long now) {
        HistoryEvent held = event(client.process, Kind.HELD, client.lock, now);
        events.add(held.answered(now * MILLI, Outcome.OK).with((client.deadline - now) * MILLI));
    }

    private void loseIfOver(Client client, long now) {
        if (!client.lock.isEmpty() && now >= client.deadline) {
            lose(client, now);
        }
    }

    private void lose(Client client, long now) {
        HistoryEvent lost = event(client.process, Kind.LOST, "", now);
        events.add(lost.answered(now * MILLI, Outcome.OK).with(Lease.ofFence(client.fence)));
        HistoryEvent seen = event(client.process, Kind.LOSS_SEEN, client.lock, now);
        events.add(seen.answered(now * MILLI, Outcome.OK));
        client.lock = "";
    }

    private HistoryEvent event(String process, Kind kind, String lock, long start) {
        return HistoryEvent.of(kind, new Source(process, "client", events.size()), "key", lock, start * MILLI);
    }
}
