package io.syncguard.batching;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A store that answers, skips and fails at random, and records violations of the contract. */
final class RandomStore implements BatchSender<RandomStore.Request, String> {

    /** The violations so far. */
    final Queue<String> violations = new ConcurrentLinkedQueue<>();

    final AtomicInteger batches = new AtomicInteger();

    private final int statements;
    private final boolean isTimeless;
    private final Set<Object> keysUnderWay = ConcurrentHashMap.newKeySet();
    private final AtomicInteger counted = new AtomicInteger();
    private final AtomicInteger batchesUnderWay = new AtomicInteger();

    private volatile @Nullable Runnable calmWork;

    /** A request that a caller sends once. */
    static final class Request {

        final int id;
        final Object key;
        final int group;

        final AtomicInteger timesSent = new AtomicInteger();
        final AtomicInteger timesExecuted = new AtomicInteger();
        volatile boolean goesAlone;

        Request(int id, Object key, int group) {
            this.id = id;
            this.key = key;
            this.group = group;
        }

        String answer() {
            return "answer to " + id;
        }
    }

    enum Kind {
        FAILED,
        INTERRUPTED_UNDER_WAY,
        TIMED_OUT_UNDER_WAY,
        NOT_SENT
    }

    static final class Failure extends RuntimeException {
        private static final long serialVersionUID = 1;

        final int id;
        final Kind kind;

        Failure(int id, Kind kind) {
            super(kind + " " + id);
            this.id = id;
            this.kind = kind;
        }
    }

    static final class RolledBack extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    /** @param isTimeless whether no statement can be too old to count */
    RandomStore(int statements, boolean isTimeless) {
        this.statements = statements;
        this.isTimeless = isTimeless;
    }

    /** Makes the store answer all requests from now on, and do this work during each statement. */
    void calmDown(Runnable work) {
        calmWork = work;
    }

    boolean isQuiet() {
        return keysUnderWay.isEmpty() && batchesUnderWay.get() == 0;
    }

    @Override
    public Object keyOf(Request request) {
        return request.key;
    }

    @Override
    public Object groupOf(Request request) {
        return request.group;
    }

    @Override
    public String sendAlone(Request request) {
        // A skipped request does not count.
        boolean counts = !request.goesAlone;
        begin(List.of(request), counts);
        try {
            work();
            request.timesExecuted.incrementAndGet();
            if (happens(10)) {
                throw new Failure(request.id, Kind.FAILED);
            }
            return request.answer();
        } finally {
            end(List.of(request), counts);
        }
    }

    @Override
    public List<@Nullable String> sendTogether(List<Request> requests) {
        checkBatch(requests);
        begin(requests, true);
        try {
            work();
            return answers(requests, true);
        } finally {
            batchesUnderWay.decrementAndGet();
            end(requests, true);
        }
    }

    /**
     * Answers requests that a statement of another kind takes along. The statement has the same key as the requests.
     */
    List<@Nullable String> sendAlong(List<Request> requests) {
        if (requests.stream().anyMatch(request -> !request.key.equals(requests.get(0).key))) {
            violations.add("keys of a statement that takes requests along");
        }
        requests.forEach(request -> request.timesSent.incrementAndGet());
        work();
        return answers(requests, false);
    }

    private void checkBatch(List<Request> requests) {
        batches.incrementAndGet();
        int group = requests.get(0).group;
        if (requests.stream().anyMatch(request -> request.group != group)) {
            violations.add("groups of a batch");
        }
        if (batchesUnderWay.incrementAndGet() > statements) {
            violations.add("too many batches");
        }
    }

    /** @param alone whether skipped requests are sent alone */
    private List<@Nullable String> answers(List<Request> requests, boolean alone) {
        if (happens(5)) {
            requests.forEach(request -> request.goesAlone |= alone);
            throw new RolledBack();
        }
        if (happens(5)) {
            requests.forEach(request -> request.timesExecuted.incrementAndGet());
            if (happens(50)) {
                throw new StackOverflowError("as the test wants it");
            }
            return List.of();
        }
        List<@Nullable String> answers = new ArrayList<>();
        for (Request request : requests) {
            if (happens(15)) {
                request.goesAlone |= alone;
                answers.add(null);
            } else {
                request.timesExecuted.incrementAndGet();
                answers.add(request.answer());
            }
        }
        return answers;
    }

    @Override
    public RuntimeException failureOf(Request request, RuntimeException batch) {
        return batch instanceof RolledBack ? null : new Failure(request.id, Kind.FAILED);
    }

    @Override
    public RuntimeException interrupted(Request request, boolean sent) {
        return new Failure(request.id, sent ? Kind.INTERRUPTED_UNDER_WAY : Kind.NOT_SENT);
    }

    @Override
    public RuntimeException timedOut(Request request, boolean sent) {
        return new Failure(request.id, sent ? Kind.TIMED_OUT_UNDER_WAY : Kind.NOT_SENT);
    }

    private void begin(List<Request> requests, boolean counts) {
        requests.forEach(request -> request.timesSent.incrementAndGet());
        for (Object key : keysOf(requests)) {
            if (!keysUnderWay.add(key)) {
                violations.add("two statements with key " + key);
            }
        }
        if (counts && counted.incrementAndGet() > statements && isTimeless) {
            violations.add("too many statements");
        }
    }

    private void end(List<Request> requests, boolean counts) {
        keysUnderWay.removeAll(keysOf(requests));
        if (counts) {
            counted.decrementAndGet();
        }
    }

    private static Set<Object> keysOf(List<Request> requests) {
        return requests.stream().map(request -> request.key).collect(Collectors.toSet());
    }

    private boolean happens(int percent) {
        return calmWork == null && ThreadLocalRandom.current().nextInt(100) < percent;
    }

    /** Takes a random time, sometimes longer than a lone request may block a batch. */
    private void work() {
        Runnable calm = calmWork;
        if (calm != null) {
            calm.run();
            return;
        }
        long micros =
                happens(1) ? 6_000 : happens(50) ? ThreadLocalRandom.current().nextInt(100) : 0;
        long end = System.nanoTime() + micros * 1_000;
        while (System.nanoTime() < end) {
            Thread.yield();
        }
    }
}
