package io.syncguard.batching;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class BatcherCloseTests {

    @RegisterExtension
    final BatcherFixture two = BatcherFixture.withRoomFor(2);

    @RegisterExtension
    final BatcherFixture forced = BatcherFixture.withBatchesOnly(1);

    @Test
    void a_batcher_has_two_threads_from_the_first_request_that_waits_until_it_is_closed() {
        two.occupy("a", "b");
        assertThat(two.threads()).isEmpty();
        two.send("c");
        assertThat(two.threads()).hasSize(2);

        two.batcher.close();

        awaitNoThreads(two);
    }

    @Test
    void requests_that_wait_are_sent_alone() {
        List<ManualStatement> stuck = two.occupy("a", "b");
        List<BatchCaller> callers = two.sendEach("c", "d", "e");

        two.batcher.close();

        awaitNoThreads(two);
        for (int i = 0; i < callers.size(); i++) {
            two.store.nextAlone().answer();
        }
        callers.forEach(BatchCaller::getsItsAnswer);
        assertThat(two.store.underWay()).isEqualTo(stuck);
    }

    @Test
    void later_requests_are_sent_alone_and_have_turns() {
        forced.batcher.close();

        BatchCaller a = forced.send(StoreRequest.of("a").ofKey("key"));
        ManualStatement first = forced.store.nextAlone();
        BatchCaller b = forced.send(StoreRequest.of("b").ofKey("key"));
        forced.send("c");
        assertThat(forced.store.nextAlone().names()).containsExactly("c");
        forced.stillWait(b);
        first.answer();
        a.getsItsAnswer();
        forced.store.nextAlone().answer();

        b.getsItsAnswer();
    }

    @Test
    void a_batch_under_way_is_answered() {
        BatchCaller a = forced.send(StoreRequest.of("a").ofKey("key"));
        ManualStatement batch = forced.store.nextBatch();
        BatchCaller b = forced.send(StoreRequest.of("b").ofKey("key"));

        forced.batcher.close();
        batch.answer();

        a.getsItsAnswer();
        forced.store.nextAlone().answer();
        b.getsItsAnswer();
        awaitNoThreads(forced);
    }

    @Test
    void answers_that_nobody_takes_go_back_before_the_end() throws Exception {
        ManualStatement batch = leave("a");
        Thread end = startAwaitingLeft();

        batch.answer();

        end.join();
        assertThat(forced.store.unclaimed).containsExactly("a");
    }

    /** A body that closes its own application is interrupted by its loss. */
    @Test
    void an_interrupt_of_the_thread_that_waits_for_them_changes_nothing() throws Exception {
        ManualStatement batch = leave("a");
        Thread end = startAwaitingLeft();
        end.interrupt();
        forced.awaitLooks(end);

        batch.answer();

        end.join();
        assertThat(forced.store.unclaimed).containsExactly("a");
    }

    @Test
    void nobody_waits_for_a_batch_whose_callers_wait() {
        BatchCaller a = forced.send("a");
        ManualStatement batch = forced.store.nextBatch();
        forced.batcher.close();

        forced.batcher.awaitLeft();

        batch.answer();
        a.getsItsAnswer();
        awaitNoThreads(forced);
        assertThat(forced.store.unclaimed).isEmpty();
    }

    @Test
    void nobody_waits_for_longer_than_a_request_may_take() throws Exception {
        leave("a");
        Thread end = startAwaitingLeft();

        forced.time.advance(BatcherFixture.WAIT_LIMIT.multipliedBy(2));

        end.join();
    }

    private ManualStatement leave(String name) {
        BatchCaller caller = forced.send(name);
        ManualStatement batch = forced.store.nextBatch();
        caller.interrupt();
        caller.failsInterrupted(name + " interrupted, sent");
        return batch;
    }

    private Thread startAwaitingLeft() {
        forced.batcher.close();
        Thread end = new Thread(forced.batcher::awaitLeft);
        end.start();
        forced.awaitLooks(end);
        return end;
    }

    private static void awaitNoThreads(BatcherFixture batcher) {
        Awaitility.await().until(() -> batcher.threads().isEmpty());
    }
}
