package io.syncguard.batching;

import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A store whose statements return when the test says so. */
final class ManualStore implements BatchSender<StoreRequest, String> {

    private static final long PATIENCE_SECONDS = 20;

    /** All statements so far, in the order in which they came. */
    private final Queue<ManualStatement> all = new ConcurrentLinkedQueue<>();

    /** The names of the requests whose callers left before the answer. */
    final Queue<String> unclaimed = new ConcurrentLinkedQueue<>();

    private final BlockingQueue<ManualStatement> unseen = new LinkedBlockingQueue<>();

    /** Whether a failed statement certainly had no effect. */
    volatile boolean rollsBack;

    volatile @Nullable RuntimeException failureOfFailures;

    static final class Failure extends RuntimeException {
        private static final long serialVersionUID = 1;

        Failure(String message) {
            super(message);
        }
    }

    /** Waits for the next statement that the test has not seen so far. */
    ManualStatement next() {
        try {
            ManualStatement next = unseen.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
            if (next == null) {
                throw new AssertionError("No statement comes. Under way: " + underWay());
            }
            return next;
        } catch (InterruptedException ex) {
            throw new AssertionError(ex);
        }
    }

    ManualStatement nextAlone() {
        ManualStatement next = next();
        if (next.isBatch) {
            throw new AssertionError("Not alone: " + next);
        }
        return next;
    }

    ManualStatement nextBatch() {
        ManualStatement next = next();
        if (!next.isBatch) {
            throw new AssertionError("Not a batch: " + next);
        }
        return next;
    }

    boolean wasSentBy(Thread thread) {
        return all.stream().anyMatch(statement -> statement.thread == thread);
    }

    /** Returns the number of statements that had this request. */
    long timesSent(String name) {
        return all.stream()
                .filter(statement -> statement.names().contains(name))
                .count();
    }

    List<ManualStatement> underWay() {
        return all.stream().filter(ManualStatement::isUnderWay).toList();
    }

    void answerAll() {
        all.forEach(ManualStatement::answer);
    }

    @Override
    public Object keyOf(StoreRequest request) {
        return request.key();
    }

    @Override
    public Object groupOf(StoreRequest request) {
        return request.group();
    }

    @Override
    public String sendAlone(StoreRequest request) {
        return run(new ManualStatement(List.of(request), false)).get(0);
    }

    @Override
    public List<@Nullable String> sendTogether(List<StoreRequest> requests) {
        return run(new ManualStatement(requests, true));
    }

    @Override
    public RuntimeException failureOf(StoreRequest request, RuntimeException batch) {
        if (failureOfFailures != null) {
            throw failureOfFailures;
        }
        String reason = batch.getCause() == null ? batch.getMessage() : "" + batch.getCause();
        return new Failure(request + " failed: " + reason);
    }

    @Override
    public @Nullable RuntimeException failureAlong(StoreRequest request, RuntimeException statement) {
        return rollsBack ? null : failureOf(request, statement);
    }

    @Override
    public void unclaimed(Map<StoreRequest, String> answers) {
        answers.keySet().forEach(request -> unclaimed.add(request.name()));
        throw new Failure("an answer cannot be given back");
    }

    @Override
    public RuntimeException interrupted(StoreRequest request, boolean sent) {
        return new Failure(request + " interrupted, " + (sent ? "sent" : "not sent"));
    }

    @Override
    public RuntimeException notSent(StoreRequest request, @Nullable RuntimeException last) {
        return last == null ? timedOut(request, false) : new Failure(request + " not sent after: " + last.getMessage());
    }

    @Override
    public RuntimeException timedOut(StoreRequest request, boolean sent) {
        return new Failure(request + (sent ? " was not answered" : " timed out"));
    }

    private List<@Nullable String> run(ManualStatement statement) {
        all.add(statement);
        unseen.add(statement);
        return statement.await();
    }
}
