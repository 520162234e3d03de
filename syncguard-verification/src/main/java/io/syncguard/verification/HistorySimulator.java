package io.syncguard.verification;

import io.syncguard.verification.HistoryEvent.Kind;
import io.syncguard.verification.HistoryEvent.Lease;
import io.syncguard.verification.HistoryEvent.Outcome;
import io.syncguard.verification.HistoryEvent.Source;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Random;

/**
 * A random simulation of the model in simulated time: a few readers and writers of one key, a server that acts at some
 * time between request and answer, and answers that get lost. Its history obeys the contract, unless it simulates a
 * bug.
 */
final class HistorySimulator {

    private static final long MILLI = 1_000_000;
    private static final int CLIENTS = 5;

    /** A bug of the server, or of a client. */
    enum Bug {
        NONE,
        READERS_PASS_WAITING_WRITERS,
        WRITERS_PASS_EACH_OTHER,
        WRITERS_IGNORE_READERS,
        READERS_IGNORE_WRITERS,
        TRIES_PASS_WHO_WAITS,
        RELEASE_OF_A_READER_FREES_ALL,
        READERS_STOP_READERS,
        THE_LAST_QUEUES_FIRST,
        THE_LAST_IS_HANDED_THE_KEY,
        FIRST_LEASES_COUNT_FROM_THE_MESSAGE
    }

    private final Random random;
    private final Bug bug;
    private final SimulatedServer server;
    private final List<HistoryEvent> events = new ArrayList<>();
    private final PriorityQueue<Step> steps = new PriorityQueue<>(Comparator.comparingLong(Step::at));

    /** The time of the step that runs. */
    private long clock;

    /** What each sleeping client does when it is woken, by lock id. */
    private final Map<String, Runnable> sleepers = new HashMap<>();

    /** The client, by lock id. */
    private final Map<String, Client> clients = new HashMap<>();

    /** The number of the last acquire request, by lock id. */
    private final Map<String, Long> lastAcquires = new HashMap<>();

    /** When the last request was sent that confirmed the queue entry, by lock id. */
    private final Map<String, Long> confirmed = new HashMap<>();

    private long numberOfWrites;
    private int locks;
    private boolean stopping;

    private HistorySimulator(long seed, Bug bug) {
        this.random = new Random(seed);
        this.bug = bug;
        this.server = new SimulatedServer(bug);
    }

    /** The events of this many steps of a key. */
    static List<HistoryEvent> simulate(long seed, int steps) {
        return simulate(seed, steps, Bug.NONE);
    }

    static List<HistoryEvent> simulate(long seed, int steps, Bug bug) {
        return new HistorySimulator(seed, bug).simulate(steps);
    }

    /** An action at a time, in milliseconds. */
    private record Step(long at, Runnable action) {}

    /** A client and the lock that it holds by its own record; none if the lock is empty. */
    private static final class Client {
        final String process;
        String lock = "";
        boolean shared;
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
            // Pending requests are answered; no new work begins.
            stopping = i >= count;
            steps.remove().action().run();
        }
        HistoryEvent end = event("test", Kind.COUNTER, "", clock + 1000);
        events.add(end.answered(end.start(), Outcome.OK).with(Lease.ofFence(server.counter())));
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
            endInStore(client, now);
        } else if (client.lock.isEmpty()) {
            acquire(client, now);
        } else if (what < 35) {
            observe(client, now);
            again(client, now + 1);
        } else if (what < 50) {
            extend(client, now);
        } else if (what < 60 && !client.shared) {
            write(client, now);
        } else if (what < 65) {
            // Abandoned: the lease lapses.
            client.lock = "";
            again(client, now);
        } else if (what < 70) {
            // Paused in the middle of its work, for longer than any lease and the tolerance.
            later(now, 1500 + random.nextInt(1500), () -> {
                if (client.shared) {
                    next(client, clock);
                } else {
                    write(client, clock);
                }
            });
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
        client.shared = random.nextInt(100) < 60;
        boolean handed = random.nextInt(100) < 40;
        long ttl = handed ? SimulatedServer.WAITER_TTL + random.nextInt(1000) : 20 + random.nextInt(600);
        String lock = "lock" + ++locks;
        clients.put(lock, client);
        acquire(client, lock, ttl, handed || random.nextInt(100) < 70, start);
    }

    private void acquire(Client client, String lock, long ttl, boolean waits, long start) {
        boolean shared = client.shared;
        HistoryEvent asked = event(client.process, Kind.ACQUIRE, lock, start)
                .with(Lease.ofTtl(ttl).shared(shared));
        lastAcquires.put(lock, asked.source().number());
        long travels = random.nextInt(5);
        if (random.nextInt(100) < (waits ? 1 : 5)) {
            events.add(asked.answered((start + travels) * MILLI, Outcome.UNKNOWN));
            if (random.nextBoolean()) {
                // It arrives long after its client has given up.
                later(start, travels + random.nextInt(200), () -> answer(asked, waits));
            }
            later(start, travels + random.nextInt(300), () -> release(client, lock, clock));
            return;
        }
        later(start, travels, () -> {
            long end = clock + random.nextInt(5);
            Outcome outcome = answer(asked, waits);
            if (outcome == Outcome.OK) {
                SimulatedServer.Row row = server.row(lock);
                client.lock = lock;
                client.fence = row.fence();
                client.deadline = start + ttl;
                events.add(asked.answered(end * MILLI, outcome)
                        .with(new Lease(row.fence(), ttl, row.acquiredAt(), row.expiresAt(), shared)));
                again(client, end);
            } else {
                events.add(asked.answered(end * MILLI, outcome).with(5000));
                if (outcome == Outcome.QUEUED) {
                    confirmed.put(lock, start);
                    sleep(client, lock, ttl, end);
                } else {
                    again(client, end);
                }
            }
        });
    }

    /** Until it is woken, polls, gives up, or renews its queue entry; now and then for too long. */
    private void sleep(Client client, String lock, long ttl, long from) {
        int what = random.nextInt(100);
        if (stopping || what < 5) {
            release(client, lock, from + 1);
        } else if (what < 15) {
            later(from, random.nextInt(40), () -> acquire(client, lock, ttl, false, clock));
        } else if (what < 40) {
            renew(client, lock, ttl, from + 1);
        } else {
            later(from, 0, () -> {
                boolean tooLong = what < 42;
                sleepers.put(
                        lock,
                        tooLong
                                ? () -> renew(client, lock, ttl, clock)
                                : () -> acquire(client, lock, ttl, true, clock));
                later(clock, tooLong ? SimulatedServer.WAITER_TTL + 1000 : random.nextInt(2000), () -> wake(lock));
            });
        }
    }

    private void renew(Client client, String lock, long ttl, long start) {
        HistoryEvent asked = event(client.process, Kind.RENEW, lock, start);
        later(start, random.nextInt(5), () -> {
            long end = clock + random.nextInt(5);
            if (server.renew(lock, clock)) {
                events.add(asked.answered(end * MILLI, Outcome.OK));
                confirmed.put(lock, start);
                sleep(client, lock, ttl, end);
            } else {
                events.add(asked.answered(end * MILLI, Outcome.NOT_HELD));
                acquire(client, lock, ttl, true, end + 1);
            }
        });
    }

    private void wake(String lock) {
        Runnable acquire = sleepers.remove(lock);
        if (acquire != null) {
            acquire.run();
        }
    }

    /** Wakes the grantable waiters, most of the time. */
    private void wake() {
        for (String lock : server.grantable(clock)) {
            if (random.nextInt(100) < 95) {
                later(clock, random.nextInt(10), () -> wake(lock));
            }
        }
    }

    private Outcome answer(HistoryEvent asked, boolean waits) {
        Outcome outcome = server.acquire(asked, waits, clock);
        if (outcome == Outcome.REFUSED) {
            wake();
        }
        return outcome;
    }

    /** The message may get lost. */
    private void handOver() {
        SimulatedServer.Entry entry = server.handOver(clock);
        if (entry != null && random.nextInt(100) < 95) {
            SimulatedServer.Row row = server.row(entry.lock());
            later(clock, random.nextInt(10), () -> deliver(entry, row));
        }
    }

    /**
     * A sleeping client accepts it, unless it belongs to an earlier acquire request. A client with a pending request
     * will find the grant.
     */
    private void deliver(SimulatedServer.Entry entry, SimulatedServer.Row row) {
        Client client = clients.get(entry.lock());
        HistoryEvent message = event(client.process, Kind.HANDED_OVER, entry.lock(), clock);
        events.add(message.answered(message.start(), Outcome.OK)
                .with(new Lease(row.fence(), SimulatedServer.WAITER_TTL, row.acquiredAt(), row.expiresAt(), false))
                .with(entry.acquire()));
        Runnable sleeper = sleepers.get(entry.lock());
        if (sleeper == null || entry.acquire() != lastAcquires.get(entry.lock())) {
            return;
        }
        sleepers.remove(entry.lock());
        boolean late = bug == Bug.FIRST_LEASES_COUNT_FROM_THE_MESSAGE;
        long deadline = (late ? clock : confirmed.get(entry.lock())) + SimulatedServer.WAITER_TTL;
        if (clock < deadline) {
            client.lock = entry.lock();
            client.shared = false;
            client.fence = row.fence();
            client.deadline = deadline;
            observe(client, clock);
            again(client, clock);
        } else {
            sleeper.run();
        }
    }

    private void extend(Client client, long start) {
        String lock = client.lock;
        long ttl = 20 + random.nextInt(600);
        HistoryEvent asked = event(client.process, Kind.EXTEND, lock, start).with(Lease.ofTtl(ttl));
        boolean answerIsLost = random.nextInt(100) < 5;
        later(start, random.nextInt(5), () -> {
            long end = clock + random.nextInt(5);
            boolean live = server.extend(lock, ttl, clock);
            if (answerIsLost) {
                client.deadline = Math.min(client.deadline, start + ttl);
                events.add(asked.answered(end * MILLI, Outcome.UNKNOWN));
            } else if (live && end < client.deadline) {
                client.deadline = start + ttl;
                events.add(asked.answered(end * MILLI, Outcome.OK)
                        .with(Lease.extended(ttl, server.row(lock).expiresAt())));
            } else {
                events.add(
                        live
                                ? asked.answered(end * MILLI, Outcome.OK)
                                        .with(Lease.extended(
                                                ttl, server.row(lock).expiresAt()))
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
            Outcome outcome = server.release(lock, clock);
            if (outcome == Outcome.OK) {
                handOver();
            }
            wake();
            events.add(asked.answered(end * MILLI, answerIsLost ? Outcome.UNKNOWN : outcome));
            if (holds && outcome == Outcome.OK) {
                HistoryEvent given = event(client.process, Kind.HANDLE_RELEASED, lock, start);
                events.add(given.answered(end * MILLI, Outcome.OK).with(Lease.ofFence(fence)));
            }
            again(client, end);
        });
    }

    /** Ends a lease in the store, as an administrator does. */
    private void endInStore(Client client, long start) {
        for (String lock : server.live(clock)) {
            server.end(lock);
            HistoryEvent ended = event("people", Kind.ENDED, lock, start);
            events.add(ended.answered((start + 1) * MILLI, Outcome.OK));
        }
        wake();
        again(client, start);
    }

    private void lookAtKey(Client client, long start) {
        HistoryEvent asked = event(client.process, Kind.LOOKUP, "", start);
        later(start, random.nextInt(5), () -> {
            long end = clock + random.nextInt(5);
            List<String> live = server.live(clock);
            if (live.isEmpty()) {
                events.add(asked.answered(end * MILLI, Outcome.NOT_HELD));
            } else {
                String lock = live.get(random.nextInt(live.size()));
                SimulatedServer.Row row = server.row(lock);
                events.add(asked.ofLock(lock)
                        .answered(end * MILLI, Outcome.OK)
                        .with(new Lease(row.fence(), 0, row.acquiredAt(), row.expiresAt(), row.shared())));
            }
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

    private void observe(Client client, long now) {
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
