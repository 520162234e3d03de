package io.syncguard.batching;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.concurrent.Time;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.locks.Condition;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Many threads, random keys and groups, a random store and interrupts: each request has its own answer or failure, is
 * executed once, and nothing is left afterwards. {@code -Dsyncguard.stress.seconds=300} makes it a long run.
 */
@Tag("verification")
class BatcherStressTests {

    private static final int ROUND_MILLIS = 200;
    private static final int ROUNDS = Integer.getInteger("syncguard.stress.seconds", 1) * 1000 / ROUND_MILLIS;

    private final Random random = new Random();

    private int answered;
    private int failed;
    private int left;
    private int batches;
    private int takenAlong;

    /** Nobody looks again by itself: a wake-up that is lost would stop the run. No statement is too old to count. */
    private static final Time TIMELESS = new Time() {
        @Override
        public long nanoTime() {
            return 0;
        }

        @Override
        public void await(Condition condition, long nanos) throws InterruptedException {
            condition.await();
        }

        @Override
        public void sleep(long nanos) {
            throw new UnsupportedOperationException();
        }
    };

    @Test
    void requests_and_interrupts_without_time() throws Exception {
        run(TIMELESS, Duration.ofSeconds(1));
    }

    @Test
    void requests_and_interrupts_with_old_statements() throws Exception {
        run(Time.SYSTEM, Duration.ofSeconds(20));
    }

    @Test
    void requests_and_interrupts_with_requests_that_wait_too_long() throws Exception {
        run(Time.SYSTEM, Duration.ofNanos(200_000));
    }

    private void run(Time time, Duration waitLimit) throws Exception {
        for (int i = 0; i < ROUNDS; i++) {
            Batcher.Limits limits = new Batcher.Limits(
                    1 + random.nextInt(3), 1 + random.nextInt(12), waitLimit, random.nextInt(4) == 0);
            BatcherRun run = new BatcherRun(limits, time);
            run.forMillis(ROUND_MILLIS);
            answered += run.answered.get();
            failed += run.failed.get();
            left += run.left();
            batches += run.batches();
            takenAlong += run.takenAlong.get();
        }
        System.out.println(answered + " answered, " + failed + " failed, " + left + " left, " + batches + " batches");
        assertThat(answered).isPositive();
        assertThat(failed).isPositive();
        assertThat(left).isPositive();
        assertThat(batches).isPositive();
        assertThat(takenAlong).isPositive();
    }
}
