package io.syncguard.batching;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Statements of requests that went alone may be stuck. They do not keep others waiting for long. */
class BatcherPatienceTests {

    private static final Duration PATIENCE = BatcherFixture.PATIENCE;

    @RegisterExtension
    final BatcherFixture two = BatcherFixture.withRoomFor(2);

    @RegisterExtension
    final BatcherFixture one = BatcherFixture.withRoomFor(1);

    @Test
    void a_batch_waits_for_statements_that_went_alone_only_while_these_are_young() {
        List<ManualStatement> stuck = two.occupy("a", "b");
        List<BatchCaller> callers = two.sendEach("c", "d");
        two.time.advance(PATIENCE.minusNanos(1));
        two.idleThreadsLook();
        two.stillWait(callers.get(0), callers.get(1));

        two.time.advance(Duration.ofNanos(1));

        ManualStatement batch = two.store.nextBatch();
        assertThat(batch.names()).containsExactly("c", "d");
        assertThat(two.store.underWay()).containsAll(stuck);
        batch.answer();
        callers.forEach(BatchCaller::getsItsAnswer);
    }

    @Test
    void there_is_room_for_as_many_statements_as_before_when_old_ones_return() {
        BatchCaller a = two.send("a");
        ManualStatement stuck = two.store.nextAlone();
        two.occupy("b");
        two.sendEach("c", "d");
        two.time.advance(PATIENCE);
        ManualStatement batch = two.store.nextBatch();
        List<BatchCaller> waiters = two.sendEach("e", "f");

        stuck.answer();
        a.getsItsAnswer();
        two.stillWait(waiters.get(0), waiters.get(1));
        batch.answer();

        assertThat(two.store.nextBatch().names()).containsExactly("e", "f");
        BatchCaller g = two.send("g");
        two.stillWait(g);
    }

    @Test
    void each_statement_has_its_own_age() {
        two.occupy("a");
        two.time.advance(Duration.ofMillis(3));
        two.occupy("b");
        BatchCaller c = two.send("c");
        two.time.advance(Duration.ofMillis(2));
        assertThat(two.store.nextAlone().thread).isSameAs(c.thread);
        BatchCaller d = two.send("d");
        two.idleThreadsLook();
        two.stillWait(d);

        two.time.advance(Duration.ofMillis(3));

        assertThat(two.store.nextAlone().thread).isSameAs(d.thread);
        BatchCaller e = two.send("e");
        two.idleThreadsLook();
        two.stillWait(e);
        two.time.advance(Duration.ofMillis(2));
        assertThat(two.store.nextAlone().thread).isSameAs(e.thread);
    }

    @Test
    void the_age_of_one_that_waited_begins_when_it_is_sent() {
        ManualStatement first = one.occupy("a").get(0);
        one.send("b");
        one.time.advance(PATIENCE.minusNanos(1));
        first.answer();
        one.store.nextAlone();
        BatchCaller c = one.send("c");

        one.time.advance(PATIENCE.minusNanos(1));
        one.idleThreadsLook();
        one.stillWait(c);
        one.time.advance(Duration.ofNanos(1));

        assertThat(one.store.nextAlone().thread).isSameAs(c.thread);
    }

    @Test
    void a_request_behind_old_statements_goes_at_once() {
        two.occupy("a", "b");
        BatchCaller c = two.send("c");
        c.interrupt();
        c.failsInterrupted("c interrupted, not sent");
        two.time.advance(PATIENCE);
        two.idleThreadsLook();

        BatchCaller d = two.send("d");

        assertThat(two.store.nextAlone().thread).isSameAs(d.thread);
        two.occupy("e");
        BatchCaller f = two.send("f");
        two.stillWait(f);
    }

    @Test
    void a_request_that_is_not_sent_in_time_fails_with_the_error_of_the_one_before() {
        ManualStatement first = one.occupy("a").get(0);
        one.sendEach("b", "c");
        first.fail(new IllegalStateException("connection refused"));
        ManualStatement batch = one.store.nextBatch();
        BatchCaller late = one.send("d");
        one.time.advance(BatcherFixture.WAIT_LIMIT);
        late.fails("d not sent after: connection refused");
        batch.answer();
    }

    @Test
    void batches_count_however_old_they_are() {
        ManualStatement first = one.occupy("a").get(0);
        one.sendEach("b", "c");
        first.answer();
        ManualStatement batch = one.store.nextBatch();
        BatchCaller d = one.send("d");

        one.time.advance(PATIENCE.multipliedBy(100));
        one.idleThreadsLook();

        one.stillWait(d);
        batch.answer();
        assertThat(one.store.nextBatch().names()).containsExactly("d");
    }
}
