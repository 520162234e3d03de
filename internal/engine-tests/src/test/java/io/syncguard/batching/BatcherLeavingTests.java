package io.syncguard.batching;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Callers that are interrupted, or wait too long. */
class BatcherLeavingTests {

    @RegisterExtension
    final BatcherFixture one = BatcherFixture.withRoomFor(1);

    @RegisterExtension
    final BatcherFixture forced = BatcherFixture.withBatchesOnly(1);

    private final List<BatchCaller> callers = new ArrayList<>();

    @Test
    void a_caller_that_is_interrupted_in_the_queue_is_not_sent() {
        ManualStatement first = one.occupy("a").get(0);
        List<BatchCaller> callers = one.sendEach("b", "c", "d");

        callers.get(1).interrupt();

        callers.get(1).failsInterrupted("c interrupted, not sent");
        first.answer();
        assertThat(one.store.nextBatch().names()).containsExactly("b", "d");
    }

    @Test
    void a_place_in_the_queue_is_free_at_once() {
        ManualStatement first = one.occupy("a").get(0);
        List<BatchCaller> callers = one.sendEach("b", "c");
        callers.get(0).interrupt();
        callers.get(0).failsInterrupted("b interrupted, not sent");

        first.answer();

        assertThat(one.store.nextAlone().thread).isSameAs(callers.get(1).thread);
    }

    @Test
    void a_caller_that_is_interrupted_while_it_waits_for_its_turn_is_not_sent() {
        ManualStatement first = occupyKey("a");
        BatchCaller b = sendOfKey("b");
        BatchCaller c = sendOfKey("c");

        b.interrupt();

        b.failsInterrupted("b interrupted, not sent");
        one.stillWait(c);
        first.answer();
        assertThat(one.store.nextAlone().thread).isSameAs(c.thread);
    }

    @Test
    void one_that_leaves_the_queue_passes_its_turn() {
        ManualStatement first = one.occupy("a").get(0);
        BatchCaller b = sendOfKey("b");
        BatchCaller c = sendOfKey("c");
        b.interrupt();
        b.failsInterrupted("b interrupted, not sent");

        first.answer();

        assertThat(one.store.nextAlone().thread).isSameAs(c.thread);
    }

    @Test
    void a_caller_that_is_interrupted_under_way_in_a_batch_leaves_at_once() {
        ManualStatement batch = sendInBatch(List.of("b", "c"));
        BatchCaller next = sendOfKey("next");

        callerOf("b").interrupt();

        callerOf("b").failsInterrupted("b interrupted, sent");
        one.stillWait(callerOf("c"), next);
        batch.answer();
        callerOf("c").getsItsAnswer();
        assertThat(one.store.nextBatch().names()).containsExactly("next");
    }

    @Test
    void a_request_that_was_skipped_after_its_caller_left_is_not_sent_again() {
        ManualStatement batch = sendInBatch(List.of("b", "c"));
        sendOfKey("next");
        callerOf("b").interrupt();
        callerOf("b").failsInterrupted("b interrupted, sent");

        batch.skip("b");

        callerOf("c").getsItsAnswer();
        assertThat(one.store.nextBatch().names()).containsExactly("next");
        assertThat(one.store.timesSent("b")).isOne();
    }

    @Test
    void a_batch_that_fails_after_a_caller_left_fails_for_the_others() {
        ManualStatement batch = sendInBatch(List.of("b", "c"));
        callerOf("b").interrupt();
        callerOf("b").failsInterrupted("b interrupted, sent");

        batch.fail(new ManualStore.Failure("no answer"));

        callerOf("c").fails("c failed: no answer");
        one.hasRoomFor("d");
    }

    @Test
    void an_interrupt_of_one_that_goes_alone_is_for_the_store() {
        BatchCaller a = one.send("a");
        one.store.nextAlone();

        a.interrupt();

        a.fails("the statement was interrupted");
        one.occupy("b");
    }

    @Test
    void an_interrupted_thread_of_the_batcher_goes_on() {
        List<Thread> threads = forced.madeThreads();
        for (int i = 0; i < 3 * threads.size(); i++) {
            BatchCaller caller = forced.send("a" + i);
            forced.store.nextBatch().answerAndInterrupt();
            caller.getsItsAnswer();
        }
        BatchCaller failed = forced.send("b");
        forced.store.nextBatch().thread.interrupt();
        failed.fails("b failed: the statement was interrupted");

        BatchCaller last = forced.send("c");
        forced.store.nextBatch().answer();
        last.getsItsAnswer();
        assertThat(forced.threads()).containsExactlyInAnyOrderElementsOf(threads);
    }

    @Test
    void a_request_that_waits_too_long_is_not_sent() {
        ManualStatement batch = sendInBatch(List.of("b", "c"));
        BatchCaller d = one.send("d");
        one.time.advance(BatcherFixture.WAIT_LIMIT.minusNanos(1));
        one.stillWait(d);

        one.time.advance(BatcherFixture.WAIT_LIMIT);

        d.fails("d timed out");
        one.stillWait(callerOf("b"), callerOf("c"));
        batch.answer();
        callerOf("b").getsItsAnswer();
        callerOf("c").getsItsAnswer();
        one.hasRoomFor("e");
        assertThat(one.store.timesSent("d")).isZero();
    }

    @Test
    void a_request_that_waits_too_long_for_its_turn_is_not_sent() {
        ManualStatement first = occupyKey("a");
        BatchCaller b = sendOfKey("b");
        BatchCaller alone = one.send(StoreRequest.of("c").ofKey("key").ofGroup(null));

        one.time.advance(BatcherFixture.WAIT_LIMIT);

        b.fails("b timed out");
        alone.fails("c timed out");
        assertThat(one.store.underWay()).containsExactly(first);
        first.answer();
        BatchCaller d = sendOfKey("d");
        assertThat(one.store.nextAlone().thread).isSameAs(d.thread);
    }

    @Test
    void a_request_whose_batch_is_not_answered_in_time_leaves_without_it() {
        ManualStatement batch = sendInBatch(List.of("b", "c"));
        one.time.advance(BatcherFixture.WAIT_LIMIT.multipliedBy(2).minusNanos(1));
        one.stillWait(callerOf("b"), callerOf("c"));

        one.time.advance(Duration.ofNanos(1));

        callerOf("b").fails("b was not answered");
        callerOf("c").fails("c was not answered");
        batch.answer();
        one.hasRoomFor("d");
    }

    /** The first of the names has the key. */
    private ManualStatement sendInBatch(List<String> names) {
        ManualStatement first = one.occupy("first").get(0);
        for (String name : names) {
            callers.add(callers.isEmpty() ? sendOfKey(name) : one.send(name));
        }
        first.answer();
        return one.store.nextBatch();
    }

    private BatchCaller callerOf(String name) {
        return callers.stream()
                .filter(caller -> caller.request.name().equals(name))
                .findAny()
                .orElseThrow();
    }

    private ManualStatement occupyKey(String name) {
        sendOfKey(name);
        return one.store.nextAlone();
    }

    private BatchCaller sendOfKey(String name) {
        return one.send(StoreRequest.of(name).ofKey("key"));
    }
}
