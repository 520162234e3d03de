package io.syncguard.postgres.batching;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** A store that answers, skips and fails at random, and watches what may not happen. */
final class RandomStore implements BatchSender<RandomStore.Request, String> {

    /** What is not allowed, and happened. */
    final Queue<String> violations = new ConcurrentLinkedQueue<>();

    final AtomicInteger batches = new AtomicInteger();

    private final int statements;
    private final boolean isTimeless;
    private final Set<Object> keysUnderWay = ConcurrentHashMap.newKeySet();
    private final Set<Object> keysAlone = ConcurrentHashMap.newKeySet();
    private final AtomicInteger counted = new AtomicInteger();
    private final AtomicInteger batchesUnderWay = new AtomicInteger();

    private volatile @Nullable Runnable calmWork;

    /** One that a caller sends once. */
    static final class Request {

        final int id;
        final @Nullable Object key;
        final @Nullable Object group;
        final boolean sharesBatch;

        final AtomicInteger timesSent = new AtomicInteger();
        final AtomicInteger timesExecuted = new AtomicInteger();
        volatile boolean goesAlone;

        Request(int id, @Nullable Object key, @Nullable Object group, boolean sharesBatch) {
            this.id = id;
            this.key = key;
            this.group = group;
            this.sharesBatch = sharesBatch;
            this.goesAlone = group == null;
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

    /** From now on it answers all requests. Does this during each statement. */
    void calmDown(Runnable work) {
        calmWork = work;
    }

    boolean isQuiet() {
        return keysUnderWay.isEmpty() && keysAlone.isEmpty() && batchesUnderWay.get() == 0;
    }

    @Override
    public @Nullable Object keyOf(Request request) {
        return request.key;
    }

    @Override
    public @Nullable Object groupOf(Request request) {
        return request.group;
    }

    @Override
    public boolean sharesBatch(Request request) {
        return request.sharesBatch;
    }

    @Override
    public String sendAlone(Request request, long deadline) {
        // A skipped request does not count, nor does one without a group.
        boolean counts = !request.goesAlone;
        begin(List.of(request), counts);
        if (request.key != null && !keysAlone.add(request.key)) {
            violations.add("two requests alone with key " + request.key);
        }
        try {
            work();
            request.timesExecuted.incrementAndGet();
            if (happens(10)) {
                throw new Failure(request.id, Kind.FAILED);
            }
            return request.answer();
        } finally {
            if (request.key != null) {
                keysAlone.remove(request.key);
            }
            end(List.of(request), counts);
        }
    }

    @Override
    public List<@Nullable String> sendTogether(List<Request> requests) {
        checkBatch(requests);
        begin(requests, true);
        try {
            work();
            return answers(requests);
        } finally {
            batchesUnderWay.decrementAndGet();
            end(requests, true);
        }
    }

    private void checkBatch(List<Request> requests) {
        batches.incrementAndGet();
        Object group = requests.get(0).group;
        if (group == null || requests.stream().anyMatch(request -> !group.equals(request.group))) {
            violations.add("groups of a batch");
        }
        if (batchesUnderWay.incrementAndGet() > statements) {
            violations.add("too many batches");
        }
    }

    private List<@Nullable String> answers(List<Request> requests) {
        if (happens(5)) {
            requests.forEach(request -> request.goesAlone = true);
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
                request.goesAlone = true;
                answers.add(null);
            } else {
                request.timesExecuted.incrementAndGet();
                answers.add(request.answer());
            }
        }
        return answers;
    }

    @Override
    public @Nullable RuntimeException failureOf(Request request, RuntimeException batch) {
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
        for (Request request : requests) {
            request.timesSent.incrementAndGet();
            if (request.key != null && !request.sharesBatch && !keysUnderWay.add(request.key)) {
                violations.add("two statements with key " + request.key);
            }
        }
        if (counts && counted.incrementAndGet() > statements && isTimeless) {
            violations.add("too many statements");
        }
    }

    private void end(List<Request> requests, boolean counts) {
        for (Request request : requests) {
            if (request.key != null && !request.sharesBatch) {
                keysUnderWay.remove(request.key);
            }
        }
        if (counts) {
            counted.decrementAndGet();
        }
    }

    private boolean happens(int percent) {
        return calmWork == null && ThreadLocalRandom.current().nextInt(100) < percent;
    }

    /** Now and then longer than the patience of a batcher. */
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
