package io.syncguard.batching;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.concurrent.Time;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** The caller of a request sleeps until there is an answer. */
class BatchedCallTests {

    private static final int CALLS = 50;

    private final AtomicInteger sleeps = new AtomicInteger();

    @Test
    void a_caller_sleeps_on_when_its_request_is_sent() throws InterruptedException {
        ManualStore store = new ManualStore();
        List<BatchedCall<StoreRequest, String>> calls = IntStream.range(0, CALLS)
                .mapToObj(i -> new BatchedCall<StoreRequest, String>(StoreRequest.of("a" + i), store, i))
                .toList();
        List<Thread> callers =
                calls.stream().map(call -> new Thread(() -> await(call))).toList();
        callers.forEach(Thread::start);
        Awaitility.await().until(() -> callers.stream().allMatch(BatchedCallTests::sleeps));

        calls.forEach(BatchedCall::sendInBatch);
        calls.forEach(call -> call.end("answer", null));

        for (Thread caller : callers) {
            caller.join(Duration.ofSeconds(20).toMillis());
        }
        assertThat(sleeps).hasValue(CALLS);
    }

    private static boolean sleeps(Thread caller) {
        return caller.getState() == Thread.State.TIMED_WAITING;
    }

    private void await(BatchedCall<StoreRequest, String> call) {
        long limit = Duration.ofMinutes(1).toNanos();
        BatchedCall.State end = call.await(new CountingTime(), limit, limit);
        assertThat(end).isEqualTo(BatchedCall.State.ENDED);
    }

    /** The clock stands still, and the sleeps are counted. */
    private final class CountingTime implements Time {

        @Override
        public long nanoTime() {
            return 0;
        }

        @Override
        public void await(Condition condition, long nanos) throws InterruptedException {
            sleeps.incrementAndGet();
            Time.SYSTEM.await(condition, nanos);
        }

        @Override
        public void sleep(long nanos) {
            throw new UnsupportedOperationException();
        }
    }
}
