package io.syncguard.redis;

import static io.syncguard.testing.Interleavings.require;
import static io.syncguard.testing.Interleavings.started;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.testing.Interleavings;
import io.syncguard.testing.Interleavings.Scenario;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.Predicate;
import org.jetbrains.lincheck.datastructures.Operation;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Requests meet answers and callers that leave at each point of their way. */
@Tag("verification")
public class AsyncBatcherInterleavingTests {

    private static final int RUNS = 60;

    @Test
    void each_request_departs_once_unless_its_caller_has_left() {
        assertThat(Interleavings.explore(RUNS, List.of(Departures.class, Leaves.class)))
                .allMatch(found -> found.startsWith("holds"));
    }

    @Test
    void a_request_that_departs_although_its_caller_has_left_is_found() {
        assertThat(Interleavings.explore(RUNS, LeavesWithoutAsking.class))
                .startsWith("fails")
                .contains("a request that was not sent is not executed");
    }

    /** Executes at once, and answers on another thread. */
    private static final class Counter implements AsyncBatcher.Sender<String, Integer> {

        private final Queue<Thread> answering = new ConcurrentLinkedQueue<>();
        private final AtomicInteger executed = new AtomicInteger();
        private final AtomicInteger executedOfLeaver = new AtomicInteger();
        private final AsyncBatcher<String, Integer> batcher =
                new AsyncBatcher<>(this, new AsyncBatcher.Limits(0, 1, 2));

        @Override
        public CompletableFuture<List<Integer>> send(List<String> requests) {
            List<Integer> answers = requests.stream().map(this::execute).toList();
            // Lincheck switches no thread below a method of CompletableFuture, so this one does not call it.
            return new CompletableFuture<>() {
                @Override
                public CompletableFuture<List<Integer>> whenComplete(
                        BiConsumer<? super List<Integer>, ? super Throwable> action) {
                    answering.add(started(() -> action.accept(answers, null)));
                    return this;
                }
            };
        }

        private int execute(String request) {
            if (request.equals("leaver")) {
                executedOfLeaver.incrementAndGet();
            }
            return executed.incrementAndGet();
        }

        void awaitAnswers() throws InterruptedException {
            for (Thread each = answering.poll(); each != null; each = answering.poll()) {
                each.join();
            }
        }
    }

    public static final class Departures implements Scenario {

        @Override
        @Operation
        public void run() throws Exception {
            Counter store = new Counter();
            AtomicInteger unanswered = new AtomicInteger(3);
            Thread other = started(() -> {
                count(store.batcher.send("a"), unanswered);
                count(store.batcher.send("b"), unanswered);
            });
            count(store.batcher.send("c"), unanswered);
            other.join();
            store.awaitAnswers();

            require(unanswered.get() == 0, "every request is answered");
            require(store.executed.get() == 3, "each request is executed once");
        }

        private static void count(BatchedReply<String, Integer> reply, AtomicInteger unanswered) {
            reply.whenComplete((answer, failure) -> unanswered.decrementAndGet());
        }
    }

    public static final class Leaves implements Scenario {

        @Override
        @Operation
        public void run() throws Exception {
            leave(reply -> !reply.cancel(false) || reply.wasSent());
        }
    }

    /** The caller takes a request that it could leave for one that was not sent. */
    public static final class LeavesWithoutAsking implements Scenario {

        @Override
        @Operation
        public void run() throws Exception {
            leave(reply -> !reply.cancel(false));
        }
    }

    private static void leave(Predicate<BatchedReply<String, Integer>> leaving) throws InterruptedException {
        Counter store = new Counter();
        AtomicBoolean sent = new AtomicBoolean();
        Thread leaver = started(() -> sent.set(leaving.test(store.batcher.send("leaver"))));
        store.batcher.send("other");
        leaver.join();
        store.awaitAnswers();

        require(sent.get() || store.executedOfLeaver.get() == 0, "a request that was not sent is not executed");
    }
}
