package io.syncguard.redis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Many callers, some of whom leave, on a store that answers on other threads, and at times fails or never answers. */
@Tag("verification")
class AsyncBatcherStressTests {

    private static final int CALLERS = 16;
    private static final int REQUESTS = 3_000;
    private static final int BATCHES = 2;

    private final ExecutorService callers = Executors.newFixedThreadPool(CALLERS);
    private final ExecutorService store = Executors.newFixedThreadPool(3);

    private final AtomicIntegerArray timesSent = new AtomicIntegerArray(CALLERS * REQUESTS);
    private final AtomicInteger underWay = new AtomicInteger();
    private final AtomicInteger mostUnderWay = new AtomicInteger();
    private final AsyncBatcher<Integer, Integer> batcher =
            new AsyncBatcher<>(this::answerLater, new AsyncBatcher.Limits(0, BATCHES, 8));

    @AfterEach
    void stop() {
        callers.shutdownNow();
        store.shutdownNow();
    }

    @Test
    void each_request_gets_its_own_answer_or_was_not_sent_and_none_is_forgotten() throws Exception {
        List<Future<Integer>> running = new ArrayList<>();
        for (int caller = 0; caller < CALLERS; caller++) {
            int number = caller;
            running.add(callers.submit(() -> call(number)));
        }
        int answered = 0;
        for (Future<Integer> each : running) {
            answered += each.get(60, TimeUnit.SECONDS);
        }

        assertThat(answered).isGreaterThan(CALLERS * REQUESTS / 2);
        assertThat(mostUnderWay).hasValueLessThanOrEqualTo(BATCHES);
    }

    /**
     * The room is taken for a moment, for requests whose callers have left: nobody sees the request that comes then.
     */
    @Test
    void a_request_that_comes_while_a_batch_turns_out_to_be_empty_departs() throws Exception {
        for (int round = 0; round < 20_000; round++) {
            Queue<CompletableFuture<List<Integer>>> sent = new ConcurrentLinkedQueue<>();
            AsyncBatcher<Integer, Integer> alone = new AsyncBatcher<>(
                    requests -> {
                        CompletableFuture<List<Integer>> answers = new CompletableFuture<>();
                        sent.add(answers);
                        return answers;
                    },
                    new AsyncBatcher.Limits(0, 1, 8));
            CyclicBarrier bothReady = new CyclicBarrier(2);
            alone.send(1);
            alone.send(2).cancel(false);

            Future<BatchedReply<Integer, Integer>> late = callers.submit(() -> {
                bothReady.await(20, TimeUnit.SECONDS);
                return alone.send(3);
            });
            bothReady.await(20, TimeUnit.SECONDS);
            sent.remove().complete(List.of(-1));

            assertThat(late.get(20, TimeUnit.SECONDS).wasSent()).isTrue();
        }
    }

    /** @return how many requests were answered */
    private int call(int caller) throws Exception {
        Random random = new Random(caller);
        int answered = 0;
        for (int i = 0; i < REQUESTS; i++) {
            int request = caller * REQUESTS + i;
            BatchedReply<Integer, Integer> reply = batcher.send(request);
            if (random.nextInt(10) > 0 && isAnswered(request, reply)) {
                answered++;
            }
            boolean left = reply.cancel(false);
            assertThat(timesSent.get(request)).isLessThanOrEqualTo(1);
            if (left && !reply.wasSent()) {
                assertThat(timesSent.get(request)).isZero();
            }
        }
        return answered;
    }

    private boolean isAnswered(int request, BatchedReply<Integer, Integer> reply) throws Exception {
        try {
            Integer answer =
                    reply.handle((value, error) -> error == null ? value : -1).get(1, TimeUnit.SECONDS);
            assertThat(answer).isIn(-request, -1);
            return true;
        } catch (TimeoutException ex) {
            // In a batch that is never answered, or behind it.
            return false;
        }
    }

    private CompletableFuture<List<Integer>> answerLater(List<Integer> requests) {
        requests.forEach(timesSent::incrementAndGet);
        Answers answers = new Answers();
        int fate = requests.get(0) % 5_000;
        if (fate != 1) {
            store.execute(() -> answer(requests, answers, fate));
        }
        return answers;
    }

    private static void answer(List<Integer> requests, Answers answers, int fate) {
        answers.leaveStore();
        if (fate % 100 == 2) {
            answers.completeExceptionally(new IllegalStateException("lost"));
        } else {
            answers.complete(requests.stream().map(request -> -request).toList());
        }
    }

    /** The answers to a batch. It counts as under way until it is answered or cancelled; then the next one departs. */
    private final class Answers extends CompletableFuture<List<Integer>> {

        private boolean inStore = true;

        Answers() {
            mostUnderWay.accumulateAndGet(underWay.incrementAndGet(), Math::max);
        }

        /** Locked: who cancels an answered batch lets the next one depart, and must not be faster than this count. */
        synchronized void leaveStore() {
            if (inStore) {
                inStore = false;
                underWay.decrementAndGet();
            }
        }

        @Override
        public boolean cancel(boolean mayInterrupt) {
            leaveStore();
            return super.cancel(mayInterrupt);
        }
    }
}
