package io.syncguard.batching;

import io.syncguard.concurrent.Shielded;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.function.BiFunction;
import java.util.stream.IntStream;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/** The requests that a {@link Batcher} sends in one statement. One thread uses it. */
final class Batch<Q, A> {

    private static final Log log = LogFactory.getLog(Batch.class);

    private final List<BatchedCall<Q, A>> calls = new ArrayList<>();
    private final Set<Object> keys = new HashSet<>();
    private final List<Result<A>> results = new ArrayList<>();

    /** For each key: the answers to requests whose callers have left. */
    private final Map<Object, Map<Q, A>> unclaimed = new LinkedHashMap<>();

    private record Result<A>(@Nullable A answer, @Nullable RuntimeException failure) {

        boolean isSkipped() {
            return answer == null && failure == null;
        }
    }

    /**
     * Takes the first requests of one group from a queue, and begins the turns of their keys. Leaves requests of other
     * groups, and those behind them with the same key. Leaves out requests whose callers have left.
     */
    static <Q, A> Batch<Q, A> takeFrom(SortedSet<BatchedCall<Q, A>> waiting, int maxSize, Turns<Q, A> turns) {
        Batch<Q, A> batch = new Batch<>();
        Set<Object> otherKeys = new HashSet<>();
        Iterator<BatchedCall<Q, A>> calls = waiting.iterator();
        while (calls.hasNext() && batch.size() < maxSize) {
            BatchedCall<Q, A> call = calls.next();
            if (!batch.isOfGroup(call.group) || otherKeys.contains(call.key)) {
                otherKeys.add(call.key);
                continue;
            }
            calls.remove();
            if (batch.hasKey(call.key) || !turns.queue(call)) {
                batch.add(call);
            }
        }
        batch.keys.forEach(key -> turns.begin(key, true));
        return batch;
    }

    /** Adds a call, unless its caller has left. */
    void add(BatchedCall<Q, A> call) {
        if (call.sendInBatch()) {
            calls.add(call);
            keys.add(call.key);
        }
    }

    Set<Object> keys() {
        return keys;
    }

    private boolean hasKey(Object key) {
        return keys.contains(key);
    }

    List<Q> requests() {
        return calls.stream().map(call -> call.request).toList();
    }

    boolean isEmpty() {
        return calls.isEmpty();
    }

    int size() {
        return calls.size();
    }

    /** Returns the failure of the statement; {@code null} if it was answered. */
    @Nullable
    RuntimeException send(BatchSender<Q, A> sender) {
        try {
            answered(sender.sendTogether(requests()));
            return null;
        } catch (Throwable ex) {
            failed(ex, sender::failureOf);
            return asException(ex);
        }
    }

    void answered(List<@Nullable A> answers) {
        if (answers.size() != calls.size()) {
            throw new IllegalStateException(answers.size() + " answers to " + calls.size() + " requests");
        }
        answers.forEach(answer -> results.add(new Result<>(answer, null)));
    }

    /** @param failures creates the failure of each request; {@code null} if it has to be sent alone */
    void failed(Throwable cause, BiFunction<Q, RuntimeException, @Nullable RuntimeException> failures) {
        RuntimeException failure = asException(cause);
        results.clear();
        calls.forEach(call -> results.add(new Result<>(null, failureOf(call.request, failure, failures))));
    }

    /** Never throws, because the callers wait for a result. */
    private @Nullable RuntimeException failureOf(
            Q request, RuntimeException failure, BiFunction<Q, RuntimeException, @Nullable RuntimeException> failures) {
        try {
            return failures.apply(request, failure);
        } catch (Throwable ex) {
            return asException(ex);
        }
    }

    private static RuntimeException asException(Throwable failure) {
        return failure instanceof RuntimeException known ? known : new IllegalStateException(failure);
    }

    /** The requests that have to be sent alone. */
    List<BatchedCall<Q, A>> skipped() {
        return IntStream.range(0, calls.size())
                .filter(i -> results.get(i).isSkipped())
                .mapToObj(calls::get)
                .toList();
    }

    /** Delivers the answers to the waiting callers. */
    void deliver() {
        for (int i = 0; i < calls.size(); i++) {
            BatchedCall<Q, A> call = calls.get(i);
            Result<A> result = results.get(i);
            A answer = result.answer;
            if (!result.isSkipped() && !call.end(answer, result.failure) && answer != null) {
                unclaimed
                        .computeIfAbsent(call.key, key -> new LinkedHashMap<>())
                        .put(call.request, answer);
            }
        }
    }

    /** Gives the answers whose callers have left back to the store. */
    void giveBack(BatchSender<Q, A> sender) {
        unclaimed
                .values()
                .forEach(ofKey -> Shielded.run(
                        () -> sender.unclaimed(ofKey),
                        ex -> log.debug("An answer for a caller that has left was not given back", ex)));
    }

    boolean hasLeftCaller() {
        return calls.stream().anyMatch(BatchedCall::hasLeft);
    }

    private boolean isOfGroup(Object group) {
        return calls.isEmpty() || calls.get(0).group.equals(group);
    }
}
