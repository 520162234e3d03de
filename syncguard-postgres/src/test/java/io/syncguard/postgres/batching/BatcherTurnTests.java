package io.syncguard.postgres.batching;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.postgres.batching.ManualStore.Failure;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Requests of one key go one after another. */
class BatcherTurnTests {

    @RegisterExtension
    final BatcherFixture two = BatcherFixture.withRoomFor(2);

    @RegisterExtension
    final BatcherFixture one = BatcherFixture.withRoomFor(1);

    @Test
    void requests_of_one_key_go_one_after_another_in_the_order_of_their_arrival() {
        List<BatchCaller> callers = List.of(sendOfKey(two, "a"), sendOfKey(two, "b"), sendOfKey(two, "c"));
        ManualStatement first = two.store.nextAlone();
        two.stillWait(callers.get(1), callers.get(2));

        first.answer();
        ManualStatement second = two.store.nextAlone();
        two.stillWait(callers.get(2));
        second.answer();
        ManualStatement third = two.store.nextAlone();
        third.answer();

        assertThat(List.of(first.names(), second.names(), third.names()))
                .containsExactly(List.of("a"), List.of("b"), List.of("c"));
        callers.forEach(BatchCaller::getsItsAnswer);
    }

    @Test
    void a_failure_passes_the_turn() {
        BatchCaller a = sendOfKey(two, "a");
        BatchCaller b = sendOfKey(two, "b");

        two.store.nextAlone().fail(new Failure("too long"));

        a.fails("too long");
        two.store.nextAlone().answer();
        b.getsItsAnswer();
    }

    @Test
    void a_batch_has_one_request_of_a_key_and_passes_its_turn() {
        ManualStatement first = one.occupy("first").get(0);
        BatchCaller a = sendOfKey(one, "a");
        BatchCaller b = sendOfKey(one, "b");
        BatchCaller other = one.send("other");
        first.answer();

        ManualStatement batch = one.store.nextBatch();
        assertThat(batch.names()).containsExactly("a", "other");
        one.stillWait(b);
        batch.answer();

        a.getsItsAnswer();
        other.getsItsAnswer();
        assertThat(one.store.nextBatch().names()).containsExactly("b");
    }

    @Test
    void a_batch_that_fails_passes_the_turns() {
        ManualStatement first = one.occupy("first").get(0);
        BatchCaller a = sendOfKey(one, "a");
        sendOfKey(one, "b");
        one.send("other");
        first.answer();

        one.store.nextBatch().fail(new Failure("no answer"));

        a.fails("a failed: no answer");
        assertThat(one.store.nextBatch().names()).containsExactly("b");
    }

    @Test
    void a_turn_passes_before_the_answers_are_delivered() {
        ManualStatement first = one.occupy("first").get(0);
        BatchCaller a = sendOfKey(one, "a");
        sendOfKey(one, "b");
        one.send("other");
        first.answer();
        ManualStatement batch = one.store.nextBatch();
        one.stop(a.thread);

        batch.answer();

        assertThat(one.store.nextBatch().names()).containsExactly("b");
        one.goOn(a.thread);
        a.getsItsAnswer();
    }

    @Test
    void a_skipped_request_keeps_its_turn() {
        ManualStatement first = one.occupy("first").get(0);
        BatchCaller a = sendOfKey(one, "a");
        BatchCaller b = sendOfKey(one, "b");
        one.send("other");
        first.answer();

        one.store.nextBatch().skip("a");
        ManualStatement alone = one.store.nextAlone();
        assertThat(alone.thread).isSameAs(a.thread);
        one.stillWait(b);
        alone.answer();

        a.getsItsAnswer();
        assertThat(one.store.nextBatch().names()).containsExactly("b");
    }

    @Test
    void a_request_without_a_group_has_turns() {
        one.send(StoreRequest.of("a").ofKey("key").ofGroup(null));
        ManualStatement first = one.store.nextAlone();
        BatchCaller b = one.send(StoreRequest.of("b").ofKey("key").ofGroup(null));
        BatchCaller c = sendOfKey(one, "c");
        one.stillWait(b, c);

        first.answer();
        ManualStatement second = one.store.nextAlone();
        assertThat(second.thread).isSameAs(b.thread);
        one.stillWait(c);
        second.answer();

        assertThat(one.store.nextAlone().thread).isSameAs(c.thread);
    }

    @Test
    void requests_without_a_key_have_no_turns() {
        List<ManualStatement> alone = new ArrayList<>();
        for (String name : List.of("a", "b")) {
            two.send(StoreRequest.of(name).ofKey(null));
            alone.add(two.store.nextAlone());
        }
        two.send(StoreRequest.of("c").ofKey(null));
        two.send(StoreRequest.of("d").ofKey(null));

        alone.get(0).answer();

        assertThat(two.store.nextBatch().names()).containsExactly("c", "d");
    }

    @Test
    void a_stuck_key_has_one_statement_under_way_whatever_the_number_of_its_callers() {
        List<BatchCaller> callers = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            callers.add(sendOfKey(two, "stuck" + i));
        }
        ManualStatement stuck = two.store.nextAlone();
        two.time.advance(BatcherFixture.PATIENCE.multipliedBy(20));

        for (int i = 0; i < 10; i++) {
            BatchCaller other = two.send("other" + i);
            two.store.nextAlone().answer();
            other.getsItsAnswer();
        }
        assertThat(two.store.underWay()).containsExactly(stuck);

        stuck.answer();
        for (int i = 1; i < callers.size(); i++) {
            ManualStatement next = two.store.nextAlone();
            assertThat(next.thread).isSameAs(callers.get(i).thread);
            assertThat(two.store.underWay()).containsExactly(next);
            next.answer();
        }
        callers.forEach(BatchCaller::getsItsAnswer);
    }

    @Test
    void requests_that_share_batches_are_sent_together() {
        ManualStatement first = one.occupy("first").get(0);
        List<BatchCaller> readers = List.of(sendReader(one, "a"), sendReader(one, "b"));
        first.answer();

        ManualStatement batch = one.store.nextBatch();
        assertThat(batch.names()).containsExactly("a", "b");
        batch.answer();

        readers.forEach(BatchCaller::getsItsAnswer);
    }

    @Test
    void those_that_come_while_one_of_them_goes_alone_share_the_next_batch() {
        BatchCaller a = sendReader(two, "a");
        ManualStatement alone = two.store.nextAlone();
        List<BatchCaller> others = List.of(sendReader(two, "b"), sendReader(two, "c"));
        others.forEach(two::stillWait);

        alone.answer();

        a.getsItsAnswer();
        ManualStatement batch = two.store.nextBatch();
        assertThat(batch.names()).containsExactly("b", "c");
        batch.answer();
        others.forEach(BatchCaller::getsItsAnswer);
    }

    @Test
    void of_those_that_a_batch_skips_one_goes_alone_and_the_others_share_the_next_batch() {
        ManualStatement first = one.occupy("first").get(0);
        List<BatchCaller> readers = List.of(sendReader(one, "a"), sendReader(one, "b"), sendReader(one, "c"));
        first.answer();

        one.store.nextBatch().skip("a", "b", "c");
        ManualStatement alone = one.store.nextAlone();
        assertThat(alone.thread).isSameAs(readers.get(0).thread);
        one.stillWait(readers.get(1), readers.get(2));
        alone.answer();

        ManualStatement batch = one.store.nextBatch();
        assertThat(batch.names()).containsExactly("b", "c");
        batch.answer();
        readers.forEach(BatchCaller::getsItsAnswer);
    }

    @Test
    void a_turn_passes_to_those_that_share_batches_and_to_the_first_behind_them() {
        BatchCaller a = sendOfKey(one, "a");
        ManualStatement alone = one.store.nextAlone();
        List<BatchCaller> others =
                List.of(sendReader(one, "b"), sendReader(one, "c"), sendOfKey(one, "d"), sendReader(one, "e"));

        alone.answer();

        a.getsItsAnswer();
        ManualStatement batch = one.store.nextBatch();
        assertThat(batch.names()).containsExactly("b", "c", "d");
        one.stillWait(others.get(3));
        batch.answer();
        ManualStatement last = one.store.next();
        assertThat(last.names()).containsExactly("e");
        last.answer();
        others.forEach(BatchCaller::getsItsAnswer);
    }

    @Test
    void a_skipped_request_whose_caller_has_left_takes_no_turn() {
        ManualStatement first = one.occupy("first").get(0);
        BatchCaller a = sendReader(one, "a");
        BatchCaller b = sendReader(one, "b");
        first.answer();
        ManualStatement batch = one.store.nextBatch();
        a.interrupt();
        a.failsInterrupted("a interrupted, sent");

        batch.skip("a", "b");

        ManualStatement alone = one.store.nextAlone();
        assertThat(alone.thread).isSameAs(b.thread);
        alone.answer();
        b.getsItsAnswer();
    }

    @Test
    void a_skipped_request_leaves_while_it_waits_for_its_turn() {
        ManualStatement first = one.occupy("first").get(0);
        List<BatchCaller> readers = List.of(sendReader(one, "a"), sendReader(one, "b"), sendReader(one, "c"));
        first.answer();
        one.store.nextBatch().skip("a", "b", "c");
        ManualStatement alone = one.store.nextAlone();
        // It gets the lock of the batcher after all three were told.
        BatchCaller other = one.send("other");
        one.store.next().answer();
        other.getsItsAnswer();

        readers.get(1).interrupt();
        readers.get(1).failsInterrupted("b interrupted, not sent");
        alone.answer();

        ManualStatement last = one.store.next();
        assertThat(last.names()).containsExactly("c");
        last.answer();
        readers.get(2).getsItsAnswer();
    }

    @Test
    void a_stuck_key_has_one_statement_of_those_that_share_batches() {
        List<BatchCaller> callers = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            callers.add(sendReader(two, "stuck" + i));
        }
        ManualStatement stuck = two.store.nextAlone();
        two.time.advance(BatcherFixture.PATIENCE.multipliedBy(20));

        for (int i = 0; i < 10; i++) {
            BatchCaller other = two.send("other" + i);
            two.store.nextAlone().answer();
            other.getsItsAnswer();
        }
        assertThat(two.store.underWay()).containsExactly(stuck);

        stuck.answer();
        for (int left = callers.size() - 1; left > 0; left -= BatcherFixture.BATCH_SIZE) {
            two.store.nextBatch().answer();
        }
        callers.forEach(BatchCaller::getsItsAnswer);
    }

    private static BatchCaller sendReader(BatcherFixture batcher, String name) {
        return batcher.send(StoreRequest.of(name).ofKey("key").sharingBatches());
    }

    private static BatchCaller sendOfKey(BatcherFixture batcher, String name) {
        return batcher.send(StoreRequest.of(name).ofKey("key"));
    }
}
