package io.syncguard.batching;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Which requests go alone, and which in a batch. */
class BatcherTests {

    @RegisterExtension
    final BatcherFixture two = BatcherFixture.withRoomFor(2);

    @RegisterExtension
    final BatcherFixture one = BatcherFixture.withRoomFor(1);

    @RegisterExtension
    final BatcherFixture forced = BatcherFixture.withBatchesOnly(1);

    @Test
    void few_requests_go_alone_at_once_on_the_threads_of_their_callers() {
        BatchCaller a = two.send("a");
        ManualStatement first = two.store.nextAlone();
        BatchCaller b = two.send("b");
        ManualStatement second = two.store.nextAlone();

        assertThat(first.thread).isSameAs(a.thread);
        assertThat(second.thread).isSameAs(b.thread);
        second.answer();
        b.getsItsAnswer();
        first.answer();
        a.getsItsAnswer();
    }

    @Test
    void what_comes_meanwhile_goes_in_one_batch_when_a_statement_returns() {
        ManualStatement first = two.occupy("a", "b").get(0);
        List<BatchCaller> meanwhile = two.sendEach("c", "d", "e");
        two.stillWait(meanwhile.toArray(BatchCaller[]::new));

        first.answer();

        ManualStatement batch = two.store.nextBatch();
        assertThat(batch.names()).containsExactly("c", "d", "e");
        assertThat(two.threads()).contains(batch.thread);
        batch.answer();
        meanwhile.forEach(BatchCaller::getsItsAnswer);
    }

    @Test
    void a_single_waiter_goes_alone_on_its_own_thread() {
        ManualStatement second = two.occupy("a", "b").get(1);
        BatchCaller c = two.send("c");

        second.answer();

        ManualStatement third = two.store.nextAlone();
        assertThat(third.thread).isSameAs(c.thread);
        third.answer();
        c.getsItsAnswer();
    }

    @Test
    void a_batch_has_a_largest_size_and_the_rest_goes_in_the_next() {
        ManualStatement first = two.occupy("a", "b").get(0);
        List<BatchCaller> meanwhile = two.sendEach("c", "d", "e", "f", "g");

        first.answer();
        ManualStatement batch = two.store.nextBatch();
        assertThat(batch.names()).containsExactly("c", "d", "e");
        two.stillWait(meanwhile.get(3), meanwhile.get(4));
        batch.answer();
        ManualStatement next = two.store.nextBatch();

        assertThat(next.names()).containsExactly("f", "g");
        next.answer();
        meanwhile.forEach(BatchCaller::getsItsAnswer);
    }

    @Test
    void batches_count_as_statements_under_way() {
        two.occupy("a", "b").get(0).answer();
        ManualStatement c = two.occupy("c").get(0);
        two.sendEach("d", "e", "f");
        c.answer();
        ManualStatement batch = two.store.nextBatch();

        BatchCaller g = two.send("g");
        two.stillWait(g);
        batch.answer();

        assertThat(two.store.nextBatch().names()).containsExactly("g");
        assertThat(two.store.underWay()).hasSize(2);
    }

    @Test
    void one_batch_is_under_way_at_a_time() {
        List<ManualStatement> alone = two.occupy("a", "b");
        List<BatchCaller> callers = two.sendEach("c", "d", "e", "f", "g");
        alone.forEach(ManualStatement::answer);

        ManualStatement first = two.store.nextBatch();
        two.stillWait(callers.get(3), callers.get(4));
        first.answer();

        assertThat(two.store.nextBatch().names()).containsExactly("f", "g");
    }

    @Test
    void after_a_batch_of_several_some_that_come_alone_go_in_batches_and_the_next_alone() {
        ManualStatement first = one.occupy("a").get(0);
        one.sendEach("b", "c");
        first.answer();
        one.store.nextBatch().answer();

        for (int batches = 0; batches < Batcher.CROWDED_BATCHES; batches++) {
            BatchCaller d = one.send("d");
            ManualStatement batch = one.store.nextBatch();
            assertThat(batch.names()).containsExactly("d");
            batch.answer();
            d.getsItsAnswer();
        }

        one.occupy("e");
    }

    @Test
    void the_next_batch_departs_before_the_answers_of_the_last_are_delivered() {
        ManualStatement first = one.occupy("a").get(0);
        List<BatchCaller> callers = one.sendEach("b", "c", "d", "e", "f");
        first.answer();
        ManualStatement batch = one.store.nextBatch();
        one.stop(callers.get(0).thread);

        batch.answer();

        assertThat(one.store.nextBatch().names()).containsExactly("e", "f");
        assertThat(callers).noneMatch(BatchCaller::hasEnded);
        one.goOn(callers.get(0).thread);
        callers.subList(0, 3).forEach(BatchCaller::getsItsAnswer);
    }

    @Test
    void a_batch_departs_when_a_thread_has_delivered_the_answers_of_another() {
        ManualStatement first = one.occupy("a").get(0);
        List<BatchCaller> callers = one.sendEach("b", "c", "d", "e", "f", "g");
        first.answer();
        ManualStatement batch = one.store.nextBatch();
        one.stop(callers.get(0).thread);
        batch.answer();
        ManualStatement second = one.store.nextBatch();
        one.stop(callers.get(3).thread);
        List<BatchCaller> waiters = one.sendEach("h", "i");
        second.answer();
        one.stillWait(waiters.get(0), waiters.get(1));

        one.goOn(callers.get(0).thread);

        assertThat(one.store.nextBatch().names()).containsExactly("h", "i");
    }

    @Test
    void requests_of_different_groups_do_not_share_a_batch() {
        ManualStatement first = one.occupy("a").get(0);
        List<BatchCaller> callers = List.of(
                one.send(StoreRequest.of("b").ofGroup(1)),
                one.send(StoreRequest.of("c").ofGroup(2)),
                one.send(StoreRequest.of("d").ofGroup(1)),
                one.send(StoreRequest.of("e").ofGroup(3)),
                one.send(StoreRequest.of("f").ofGroup(2)),
                one.send(StoreRequest.of("g").ofGroup(3)));
        first.answer();

        for (List<String> names : List.of(List.of("b", "d"), List.of("c", "f"), List.of("e", "g"))) {
            ManualStatement batch = one.store.nextBatch();
            assertThat(batch.names()).isEqualTo(names);
            batch.answer();
        }
        callers.forEach(BatchCaller::getsItsAnswer);
    }

    @Test
    void requests_of_another_group_keep_their_places_before_later_ones() {
        ManualStatement first = one.occupy("a").get(0);
        one.send(StoreRequest.of("b").ofGroup(1));
        one.send(StoreRequest.of("c").ofGroup(2));
        one.send(StoreRequest.of("d").ofGroup(3));
        one.send(StoreRequest.of("e").ofGroup(1));
        one.send(StoreRequest.of("f").ofGroup(1));
        one.send(StoreRequest.of("g").ofGroup(2));
        first.answer();

        for (List<String> names : List.of(List.of("b", "e", "f"), List.of("c", "g"))) {
            ManualStatement batch = one.store.nextBatch();
            assertThat(batch.names()).isEqualTo(names);
            batch.answer();
        }
        assertThat(one.store.nextBatch().names()).containsExactly("d");
    }

    @Test
    void even_a_first_request_goes_in_a_batch_if_tests_want_that() {
        BatchCaller a = forced.send("a");

        ManualStatement batch = forced.store.nextBatch();
        assertThat(batch.names()).containsExactly("a");
        batch.skip("a");
        ManualStatement alone = forced.store.nextAlone();
        assertThat(alone.thread).isSameAs(a.thread);
        alone.answer();
        a.getsItsAnswer();
    }
}
