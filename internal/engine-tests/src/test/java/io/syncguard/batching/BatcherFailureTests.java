package io.syncguard.batching;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.batching.ManualStore.Failure;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Requests that a batch skips, and statements that fail. */
class BatcherFailureTests {

    @RegisterExtension
    final BatcherFixture one = BatcherFixture.withRoomFor(1);

    @RegisterExtension
    final BatcherFixture forced = BatcherFixture.withBatchesOnly(1);

    @Test
    void what_a_batch_skips_goes_alone_on_the_thread_of_its_caller() {
        List<BatchCaller> callers = sendInBatch("b", "c", "d");

        one.store.nextBatch().skip("c");

        ManualStatement alone = one.store.nextAlone();
        assertThat(alone.names()).containsExactly("c");
        assertThat(alone.thread).isSameAs(callers.get(1).thread);
        callers.get(0).getsItsAnswer();
        callers.get(2).getsItsAnswer();
        alone.answer();
        callers.get(1).getsItsAnswer();
    }

    @Test
    void skipped_requests_do_not_count_as_statements_under_way() {
        sendInBatch("b", "c", "d");
        one.store.nextBatch().skip("b", "c");
        one.store.nextAlone();
        one.store.nextAlone();

        one.send("e");
        ManualStatement e = one.store.nextBatch();
        BatchCaller f = one.send("f");

        one.store.answerAll();
        assertThat(one.store.nextBatch().names()).containsExactly("f");
        assertThat(e.isUnderWay()).isFalse();
        assertThat(f.hasEnded()).isFalse();
    }

    @Test
    void the_return_of_a_skipped_request_makes_no_room() {
        List<BatchCaller> callers = sendInBatch("b", "c");
        one.store.nextBatch().skip("b");
        ManualStatement skipped = one.store.nextAlone();
        one.hasRoomFor("d");
        BatchCaller e = one.send("e");

        skipped.answer();
        callers.get(0).getsItsAnswer();

        one.stillWait(e);
    }

    @Test
    void each_request_of_a_batch_that_fails_has_a_failure_of_its_own() {
        List<BatchCaller> callers = sendInBatch("b", "c");

        one.store.nextBatch().fail(new Failure("no answer"));

        callers.get(0).fails("b failed: no answer");
        callers.get(1).fails("c failed: no answer");
        one.hasRoomFor("d");
    }

    @Test
    void an_error_ends_no_thread() {
        List<Thread> threads = forced.madeThreads();
        for (int i = 0; i < 2 * threads.size(); i++) {
            BatchCaller caller = forced.send("a" + i);
            forced.store.nextBatch().fail(new StackOverflowError("deep"));
            caller.fails("a" + i + " failed: java.lang.StackOverflowError: deep");
        }

        assertThat(forced.threads()).containsExactlyInAnyOrderElementsOf(threads);
        BatchCaller last = forced.send("b");
        forced.store.nextBatch().answer();
        last.getsItsAnswer();
    }

    @Test
    void without_a_thread_requests_go_alone_and_the_next_one_that_waits_has_it_made() {
        one.maker.exhausted = true;
        ManualStatement stuck = one.occupy("a").get(0);
        BatchCaller b = one.send(StoreRequest.of("b").ofKey("key"));
        BatchCaller c = one.send(StoreRequest.of("c").ofKey("key"));
        ManualStatement first = one.store.nextAlone();
        assertThat(first.thread).isSameAs(b.thread);
        one.stillWait(c);
        first.answer();
        b.getsItsAnswer();
        one.store.nextAlone().answer();
        c.getsItsAnswer();
        assertThat(one.threads()).isEmpty();

        one.maker.exhausted = false;
        List<BatchCaller> callers = one.sendEach("d", "e");
        stuck.answer();

        one.store.nextBatch().answer();
        callers.forEach(BatchCaller::getsItsAnswer);
    }

    @Test
    void a_sender_that_cannot_tell_the_failures_ends_no_thread() {
        forced.store.failureOfFailures = new Failure("no memory");
        List<Thread> threads = forced.madeThreads();
        for (int i = 0; i < 2 * threads.size(); i++) {
            BatchCaller caller = forced.send("a" + i);
            forced.store.nextBatch().fail(new Failure("no answer"));
            caller.fails("no memory");
        }

        assertThat(forced.threads()).containsExactlyInAnyOrderElementsOf(threads);
    }

    @Test
    void too_few_answers_are_a_failure_of_the_batch() {
        List<BatchCaller> callers = sendInBatch("b", "c");

        one.store.nextBatch().answerInFull(List.of("answer to b"));

        callers.get(0).fails("b failed: 1 answers to 2 requests");
        callers.get(1).fails("c failed: 1 answers to 2 requests");
        one.hasRoomFor("d");
    }

    @Test
    void a_failure_of_one_that_goes_alone_is_its_own_and_makes_room() {
        BatchCaller a = one.send("a");
        ManualStatement first = one.store.nextAlone();
        BatchCaller b = one.send("b");

        first.fail(new Failure("too long"));
        a.fails("too long");
        ManualStatement second = one.store.nextAlone();
        second.fail(new StackOverflowError("deep"));

        assertThat(second.thread).isSameAs(b.thread);
        one.occupy("c");
    }

    /** Sends requests in a batch, behind one that goes alone and returns. */
    private List<BatchCaller> sendInBatch(String... names) {
        ManualStatement first = one.occupy("first").get(0);
        List<BatchCaller> callers = one.sendEach(names);
        first.answer();
        return callers;
    }
}
