package io.syncguard.postgres.batching;

import io.syncguard.concurrent.Shielded;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/** The requests that a {@link Batcher} sends in one statement. One thread uses it. */
final class Batch<Q, A> {

    private static final Log log = LogFactory.getLog(Batch.class);

    private final List<BatchedCall<Q, A>> calls = new ArrayList<>();
    private final List<Result<A>> results = new ArrayList<>();

    private record Result<A>(@Nullable A answer, @Nullable RuntimeException failure) {

        boolean isSkipped() {
            return answer == null && failure == null;
        }
    }

    /** Takes the first requests of a queue that are of the same group. Leaves out those whose callers have left. */
    static <Q, A> Batch<Q, A> takeFrom(Deque<BatchedCall<Q, A>> waiting, int maxSize) {
        Batch<Q, A> batch = new Batch<>();
        Deque<BatchedCall<Q, A>> others = new ArrayDeque<>();
        while (!waiting.isEmpty() && batch.calls.size() < maxSize) {
            BatchedCall<Q, A> call = waiting.remove();
            if (!batch.isOfGroup(call.group)) {
                others.add(call);
            } else if (call.sendInBatch()) {
                batch.calls.add(call);
            }
        }
        while (!others.isEmpty()) {
            waiting.addFirst(others.removeLast());
        }
        return batch;
    }

    boolean isEmpty() {
        return calls.isEmpty();
    }

    int size() {
        return calls.size();
    }

    void send(BatchSender<Q, A> sender) {
        try {
            List<@Nullable A> answers =
                    sender.sendTogether(calls.stream().map(call -> call.request).toList());
            if (answers.size() != calls.size()) {
                throw new IllegalStateException(answers.size() + " answers to " + calls.size() + " requests");
            }
            answers.forEach(answer -> results.add(new Result<>(answer, null)));
        } catch (Throwable ex) {
            RuntimeException failure = asException(ex);
            results.clear();
            calls.forEach(call -> results.add(new Result<>(null, failureOf(call.request, failure, sender))));
        }
    }

    /** The callers wait for a result, whatever the sender does. */
    private @Nullable RuntimeException failureOf(Q request, RuntimeException failure, BatchSender<Q, A> sender) {
        try {
            return sender.failureOf(request, failure);
        } catch (Throwable ex) {
            return asException(ex);
        }
    }

    private static RuntimeException asException(Throwable failure) {
        return failure instanceof RuntimeException known ? known : new IllegalStateException(failure);
    }

    /** The requests that have to be sent alone. */
    List<BatchedCall<Q, A>> skipped() {
        return calls(Result::isSkipped);
    }

    /** The requests that have an answer or a failure. */
    List<BatchedCall<Q, A>> ended() {
        return calls(result -> !result.isSkipped());
    }

    private List<BatchedCall<Q, A>> calls(Predicate<Result<A>> having) {
        return IntStream.range(0, calls.size())
                .filter(i -> having.test(results.get(i)))
                .mapToObj(calls::get)
                .toList();
    }

    /** Delivers the answers to the callers that wait. Then gives the others back to the store. */
    void deliver(BatchSender<Q, A> sender) {
        List<Runnable> unclaimed = new ArrayList<>();
        for (int i = 0; i < calls.size(); i++) {
            BatchedCall<Q, A> call = calls.get(i);
            Result<A> result = results.get(i);
            A answer = result.answer;
            if (!result.isSkipped() && !call.end(answer, result.failure) && answer != null) {
                unclaimed.add(() -> sender.unclaimed(call.request, answer));
            }
        }
        unclaimed.forEach(each ->
                Shielded.run(each, ex -> log.debug("An answer for a caller that has left was not given back", ex)));
    }

    boolean isLeft() {
        return calls.stream().anyMatch(BatchedCall::hasLeft);
    }

    private boolean isOfGroup(@Nullable Object group) {
        return calls.isEmpty() || Objects.equals(calls.get(0).group, group);
    }
}
