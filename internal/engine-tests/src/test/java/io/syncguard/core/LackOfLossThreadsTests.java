package io.syncguard.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.testing.ScarceThreads;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

class LackOfLossThreadsTests {

    private final ManualTime time = new ManualTime();
    private final ScarceThreads maker = new ScarceThreads();

    /** No lock is held any more, no other one is lost, and the callback before it does not end. */
    @Test
    void a_callback_behind_one_that_blocks_runs_a_second_after_threads_can_be_made_again() throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        CountDownLatch blocks = new CountDownLatch(1);
        CountDownLatch ran = new CountDownLatch(1);
        try (ListenerDispatcher dispatcher = new ListenerDispatcher("store", List.of(), LockObserver.NONE, maker);
                LeaseMonitor monitor = new LeaseMonitor(
                        time, new LeakDetector(Duration.ZERO, new LeaseReports(dispatcher), time), dispatcher)) {
            dispatcher.call(() -> {
                blocks.countDown();
                await(end);
            });
            await(blocks);
            maker.exhausted = true;
            dispatcher.call(ran::countDown);
            time.advance(Duration.ofSeconds(1));
            assertThat(monitor.leases()).isEmpty();
            assertThat(ran.getCount()).isEqualTo(1);

            maker.exhausted = false;
            Awaitility.await().atMost(Duration.ofSeconds(20)).until(() -> {
                time.advance(Duration.ofSeconds(1));
                return ran.getCount() == 0;
            });
        } finally {
            end.countDown();
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException ex) {
            throw new IllegalStateException(ex);
        }
    }
}
