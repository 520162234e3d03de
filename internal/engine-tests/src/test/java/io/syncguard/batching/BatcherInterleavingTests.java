package io.syncguard.batching;

import static io.syncguard.testing.Interleavings.require;
import static io.syncguard.testing.Interleavings.started;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.concurrent.ModelTime;
import io.syncguard.testing.Interleavings;
import io.syncguard.testing.Interleavings.Scenario;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Requests meet batches, answers and interrupts at each point of their way. */
@Tag("verification")
public class BatcherInterleavingTests {

    private static final int RUNS = 10;

    @Test
    void each_request_is_executed_and_answered_once() {
        assertThat(Interleavings.explore(
                        RUNS,
                        List.of(
                                Batches.class,
                                Skipped.class,
                                Interrupted.class,
                                TakenAlong.class,
                                TakenAndSkipped.class)))
                .allMatch(found -> found.startsWith("holds"));
    }

    @Test
    void a_request_that_is_executed_by_its_batch_and_alone_is_found() {
        assertThat(Interleavings.explore(RUNS, ExecutedAndSkipped.class))
                .startsWith("fails")
                .contains("each request is executed once");
    }

    /** A store that counts what it executes, and a batcher that sends all requests in batches. */
    private static class Counters implements BatchSender<String, Integer>, AutoCloseable {

        final AtomicInteger executed = new AtomicInteger();
        final Batcher<String, Integer> batcher =
                new Batcher<>("test", this, new Batcher.Limits(1, 2, Duration.ofMinutes(1), true), new ModelTime());

        @Override
        public Object keyOf(String request) {
            return request;
        }

        @Override
        public Object groupOf(String request) {
            return "any";
        }

        @Override
        public Integer sendAlone(String request) {
            return executed.incrementAndGet();
        }

        @Override
        public List<@Nullable Integer> sendTogether(List<String> requests) {
            List<@Nullable Integer> answers = new ArrayList<>();
            for (int i = 0; i < requests.size(); i++) {
                answers.add(executeInBatch());
            }
            return answers;
        }

        @Nullable
        Integer executeInBatch() {
            return executed.incrementAndGet();
        }

        @Override
        public RuntimeException failureOf(String request, RuntimeException batch) {
            return batch;
        }

        @Override
        public RuntimeException interrupted(String request, boolean sent) {
            return sent ? new IllegalStateException("sent") : new IllegalArgumentException("not sent");
        }

        @Override
        public RuntimeException timedOut(String request, boolean sent) {
            return new IllegalStateException("timed out");
        }

        @Override
        public void close() {
            batcher.close();
        }
    }

    private static void sendTwo(Counters counters) throws InterruptedException {
        try (Counters store = counters) {
            AtomicInteger other = new AtomicInteger();
            Thread caller = started(() -> other.set(store.batcher.send("a")));
            int own = store.batcher.send("b");
            caller.join();

            require(store.executed.get() == 2, "each request is executed once");
            require(own + other.get() == 3 && own != other.get(), "each request has its own answer");
        }
    }

    public static final class Batches implements Scenario {

        @Override
        @Operation
        public void run() throws Exception {
            sendTwo(new Counters());
        }
    }

    /** Batches execute nothing, so that each caller has to send its request alone. */
    public static final class Skipped implements Scenario {

        @Override
        @Operation
        public void run() throws Exception {
            sendTwo(new Counters() {
                @Override
                @Nullable
                Integer executeInBatch() {
                    return null;
                }
            });
        }
    }

    /** Batches say that they execute nothing, which is wrong. */
    public static final class ExecutedAndSkipped implements Scenario {

        @Override
        @Operation
        public void run() throws Exception {
            sendTwo(new Counters() {
                @Override
                @Nullable
                Integer executeInBatch() {
                    executed.incrementAndGet();
                    return null;
                }
            });
        }
    }

    private static void sendOneAndTakeAlong(Counters counters) throws InterruptedException {
        try (Counters store = counters) {
            Thread taker = started(() -> {
                TakenRequests<String, Integer> taken = store.batcher.takeAlong(request -> true);
                if (!taken.isEmpty()) {
                    taken.send(store::sendTogether, answers -> answers);
                }
            });
            int own = store.batcher.send("a");
            taker.join();

            require(store.executed.get() == 1 && own == 1, "the request is executed once");
        }
    }

    public static final class TakenAlong implements Scenario {

        @Override
        @Operation
        public void run() throws Exception {
            sendOneAndTakeAlong(new Counters());
        }
    }

    /** Neither a batch nor the statement that takes it along executes the request. */
    public static final class TakenAndSkipped implements Scenario {

        @Override
        @Operation
        public void run() throws Exception {
            sendOneAndTakeAlong(new Counters() {
                @Override
                @Nullable
                Integer executeInBatch() {
                    return null;
                }
            });
        }
    }

    public static final class Interrupted implements Scenario {

        @Override
        @Operation
        public void run() throws Exception {
            try (Counters store = new Counters()) {
                AtomicInteger left = new AtomicInteger();
                Thread caller = started(() -> {
                    try {
                        store.batcher.send("a");
                    } catch (IllegalArgumentException notSent) {
                        left.incrementAndGet();
                    } catch (IllegalStateException sent) {
                        // It may have been executed.
                    }
                });
                caller.interrupt();
                caller.join();
                // Whatever was sent before is executed by now.
                store.batcher.send("b");

                require(store.executed.get() + left.get() <= 2, "a request that was not sent is not executed");
            }
        }
    }
}
