package io.syncguard.batching;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.batching.ManualStore.Failure;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** One statement at a time has a key, and requests of one key are sent in the order of their arrival. */
class BatcherTurnTests {

    @RegisterExtension
    final BatcherFixture two = BatcherFixture.withRoomFor(2);

    @RegisterExtension
    final BatcherFixture one = BatcherFixture.withRoomFor(1);

    private final List<BatchCaller> callers = new ArrayList<>();

    @Test
    void requests_of_one_key_share_a_batch() {
        ManualStatement batch = sendInBatch("a", "b", "c");

        assertThat(batch.names()).containsExactly("a", "b", "c");
    }

    @Test
    void those_that_come_while_one_of_them_goes_alone_share_the_next_batch() {
        BatchCaller a = sendOfKey(two, "a");
        ManualStatement alone = two.store.nextAlone();
        List<BatchCaller> others = List.of(sendOfKey(two, "b"), sendOfKey(two, "c"));
        others.forEach(two::stillWait);

        alone.answer();

        a.getsItsAnswer();
        ManualStatement batch = two.store.nextBatch();
        assertThat(batch.names()).containsExactly("b", "c");
        batch.answer();
        others.forEach(BatchCaller::getsItsAnswer);
    }

    @Test
    void one_that_comes_while_a_batch_has_its_key_waits_for_the_batch() {
        ManualStatement first = two.occupy("first", "second").get(0);
        two.sendEach("a", "b");
        first.answer();
        two.store.nextBatch().answer();
        for (int batches = 1; batches < Batcher.CROWDED_BATCHES; batches++) {
            BatchCaller caller = two.send("quiet" + batches);
            two.store.nextBatch().answer();
            caller.getsItsAnswer();
        }
        sendOfKey(two, "c");
        ManualStatement batch = two.store.nextBatch();
        two.store.underWay().stream().filter(each -> each != batch).forEach(ManualStatement::answer);

        BatchCaller d = sendOfKey(two, "d");
        two.stillWait(d);
        two.hasRoomFor("other");
        batch.answer();

        assertThat(two.store.nextAlone().thread).isSameAs(d.thread);
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
    void a_batch_that_fails_passes_the_turns() {
        ManualStatement batch = sendInBatch("a", "b");
        sendOfKey(one, "c");

        batch.fail(new Failure("no answer"));

        callers.get(0).fails("a failed: no answer");
        callers.get(1).fails("b failed: no answer");
        assertThat(one.store.nextBatch().names()).containsExactly("c");
    }

    @Test
    void a_turn_passes_before_the_answers_are_delivered() {
        ManualStatement batch = sendInBatch("a", "b");
        sendOfKey(one, "c");
        one.stop(callers.get(0).thread);

        batch.answer();

        assertThat(one.store.nextBatch().names()).containsExactly("c");
        one.goOn(callers.get(0).thread);
        callers.forEach(BatchCaller::getsItsAnswer);
    }

    @Test
    void of_those_that_a_batch_skips_one_goes_alone_and_the_others_share_the_next_batch() {
        sendInBatch("a", "b", "c").skip("a", "b", "c");
        ManualStatement alone = one.store.nextAlone();
        assertThat(alone.thread).isSameAs(callers.get(0).thread);
        one.stillWait(callers.get(1), callers.get(2));
        alone.answer();

        ManualStatement batch = one.store.nextBatch();
        assertThat(batch.names()).containsExactly("b", "c");
        batch.answer();
        callers.forEach(BatchCaller::getsItsAnswer);
    }

    @Test
    void those_that_a_batch_skips_are_in_front_of_those_that_it_had_no_place_for_and_of_later_ones() {
        ManualStatement batch = sendInBatch("a", "b", "c", "d", "e");
        assertThat(batch.names()).containsExactly("a", "b", "c");
        callers.add(sendOfKey(one, "f"));

        batch.skip("b", "c");
        ManualStatement alone = one.store.nextAlone();
        assertThat(alone.names()).containsExactly("b");
        callers.add(sendOfKey(one, "g"));
        one.stillWait(callers.get(2), callers.get(3), callers.get(4), callers.get(5), callers.get(6));
        alone.answer();

        for (List<String> names : List.of(List.of("c", "d", "e"), List.of("f", "g"))) {
            ManualStatement next = one.store.nextBatch();
            assertThat(next.names()).isEqualTo(names);
            next.answer();
        }
        callers.forEach(BatchCaller::getsItsAnswer);
    }

    @Test
    void a_request_does_not_pass_one_of_its_key_that_is_of_another_group() {
        ManualStatement first = one.occupy("first").get(0);
        one.send(StoreRequest.of("a").ofKey("key").ofGroup("writers"));
        one.send(StoreRequest.of("b").ofKey("key").ofGroup("readers"));
        one.send(StoreRequest.of("c").ofKey("key").ofGroup("writers"));
        one.send(StoreRequest.of("d").ofGroup("writers"));
        first.answer();

        for (List<String> names : List.of(List.of("a", "d"), List.of("b"), List.of("c"))) {
            ManualStatement next = one.store.next();
            assertThat(next.names()).isEqualTo(names);
            next.answer();
        }
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
        List<String> sent = new ArrayList<>(stuck.names());
        while (sent.size() < callers.size()) {
            ManualStatement next = two.store.next();
            assertThat(two.store.underWay()).containsExactly(next);
            sent.addAll(next.names());
            next.answer();
        }
        assertThat(sent)
                .containsExactlyElementsOf(
                        callers.stream().map(caller -> caller.request.name()).toList());
        callers.forEach(BatchCaller::getsItsAnswer);
    }

    @Test
    void a_skipped_request_whose_caller_has_left_takes_no_turn() {
        ManualStatement batch = sendInBatch("a", "b");
        callers.get(0).interrupt();
        callers.get(0).failsInterrupted("a interrupted, sent");

        batch.skip("a", "b");

        ManualStatement alone = one.store.nextAlone();
        assertThat(alone.thread).isSameAs(callers.get(1).thread);
        alone.answer();
        callers.get(1).getsItsAnswer();
    }

    @Test
    void a_turn_passes_where_the_callers_of_all_skipped_requests_have_left() {
        ManualStatement batch = sendInBatch("a", "b");
        callers.forEach(BatchCaller::interrupt);
        callers.get(0).failsInterrupted("a interrupted, sent");
        callers.get(1).failsInterrupted("b interrupted, sent");
        sendOfKey(one, "c");

        batch.skip("a", "b");

        assertThat(one.store.next().names()).containsExactly("c");
    }

    @Test
    void a_skipped_request_leaves_while_it_waits_for_its_turn() {
        sendInBatch("a", "b", "c").skip("a", "b", "c");
        ManualStatement alone = one.store.nextAlone();
        // It gets the lock of the batcher after all three were told.
        BatchCaller other = one.send("other");
        one.store.next().answer();
        other.getsItsAnswer();

        callers.get(1).interrupt();
        callers.get(1).failsInterrupted("b interrupted, not sent");
        alone.answer();

        ManualStatement last = one.store.next();
        assertThat(last.names()).containsExactly("c");
        last.answer();
        callers.get(2).getsItsAnswer();
    }

    /** Requests of one key that wait behind one of another key, which returns. */
    private ManualStatement sendInBatch(String... names) {
        ManualStatement first = one.occupy("first").get(0);
        for (String name : names) {
            callers.add(sendOfKey(one, name));
        }
        first.answer();
        return one.store.nextBatch();
    }

    private static BatchCaller sendOfKey(BatcherFixture batcher, String name) {
        return batcher.send(StoreRequest.of(name).ofKey("key"));
    }
}
