package io.syncguard.batching;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.batching.ManualStore.Failure;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A statement of another kind takes requests along that wait. */
class BatcherTakeAlongTests {

    @RegisterExtension
    final BatcherFixture one = BatcherFixture.withRoomFor(1);

    private final List<BatchCaller> callers = new ArrayList<>();

    @Test
    void it_takes_those_of_one_key() {
        ManualStatement alone = waitBehind("a", "b", "c");
        one.send(StoreRequest.of("other"));

        Taking taking = take("a", "c", "other");
        assertThat(taking.names).containsExactly("a", "c");
        alone.answer();

        assertThat(one.store.nextBatch().names()).containsExactly("b", "other");
        taking.answer();
        callers.get(0).getsItsAnswer();
        callers.get(2).getsItsAnswer();
    }

    @Test
    void it_takes_as_many_as_a_batch_has_in_the_order_of_their_arrival() {
        waitBehind("a", "b", "c", "d", "e").answer();
        one.store.nextBatch().skip("a", "b", "c");
        ManualStatement alone = one.store.nextAlone();

        Taking taking = take("b", "c", "d", "e");
        assertThat(taking.names).containsExactly("b", "c", "d");
        alone.answer();

        assertThat(one.store.next().names()).containsExactly("e");
        taking.answer();
        callers.subList(0, 4).forEach(BatchCaller::getsItsAnswer);
    }

    @Test
    void it_takes_those_that_wait_for_the_statement_with_their_key() {
        ManualStatement alone = occupyKey();
        callers.add(sendOfKey("a"));

        Taking taking = take("a");
        assertThat(taking.names).containsExactly("a");
        taking.answer();

        callers.get(0).getsItsAnswer();
        assertThat(one.store.underWay()).containsExactly(alone);
    }

    @Test
    void it_takes_nothing_where_nothing_waits_or_nothing_is_wanted() {
        assertThat(take("a").names).isEmpty();
        waitBehind("a", "b");
        assertThat(take("c").names).isEmpty();
        one.stillWait(callers.get(0), callers.get(1));
    }

    @Test
    void it_takes_none_whose_key_a_batch_has_because_the_batch_may_skip_the_first() {
        waitBehind("a", "b").answer();
        ManualStatement batch = one.store.nextBatch();
        callers.add(sendOfKey("c"));

        assertThat(take("c").names).isEmpty();
        batch.skip("b");
        ManualStatement alone = one.store.nextAlone();

        assertThat(alone.names()).containsExactly("b");
        Taking taking = take("c");
        assertThat(taking.names).containsExactly("c");
        taking.answer();
        callers.get(2).getsItsAnswer();
    }

    @Test
    void a_batch_that_is_about_to_depart_goes_without_them() {
        ManualStatement alone = waitBehind("a", "b");
        one.send(StoreRequest.of("other"));
        Taking taking = take("a", "b");

        alone.answer();

        assertThat(one.store.next().names()).containsExactly("other");
        taking.answer();
        callers.forEach(BatchCaller::getsItsAnswer);
    }

    @Test
    void later_requests_of_the_key_do_not_wait_for_it() {
        ManualStatement alone = waitBehind("a");
        Taking taking = take("a");
        alone.answer();

        BatchCaller b = sendOfKey("b");
        ManualStatement next = one.store.nextAlone();
        assertThat(next.thread).isSameAs(b.thread);

        one.stillWait(callers.get(0));
        taking.answer();
        callers.get(0).getsItsAnswer();
    }

    @Test
    void those_without_an_answer_wait_again_in_front_of_others() {
        ManualStatement alone = waitBehind("a", "b", "c");
        Taking taking = take("a", "b");
        callers.add(sendOfKey("d"));

        taking.skip("b");
        callers.get(0).getsItsAnswer();
        one.stillWait(callers.get(1));
        alone.answer();

        assertThat(one.store.nextBatch().names()).containsExactly("b", "c", "d");
    }

    @Test
    void where_it_fails_each_fails_by_itself() {
        waitBehind("a", "b");
        Taking taking = take("a", "b");

        taking.fail(new Failure("no answer"));

        callers.get(0).fails("a failed: no answer");
        callers.get(1).fails("b failed: no answer");
    }

    @Test
    void where_it_surely_had_no_effect_they_are_sent_again() {
        one.store.rollsBack = true;
        ManualStatement alone = waitBehind("a", "b");
        Taking taking = take("a", "b");

        taking.fail(new Failure("deadlock"));
        one.stillWait(callers.get(0), callers.get(1));
        alone.answer();

        assertThat(one.store.nextBatch().names()).containsExactly("a", "b");
    }

    /** While the engine runs, it gives back by itself: the statement must not wait for another one. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void an_interrupted_caller_leaves_at_once_and_its_answer_goes_back_if_the_engine_has_stopped(boolean stopped)
            throws Exception {
        waitBehind("a", "b");
        Taking taking = take("a", "b");

        callers.get(0).interrupt();
        callers.get(0).failsInterrupted("a interrupted, sent");
        if (stopped) {
            one.batcher.close();
        }
        taking.answer();

        callers.get(1).getsItsAnswer();
        taking.thread.join();
        assertThat(one.store.unclaimed).containsExactlyElementsOf(stopped ? List.of("a") : List.of());
    }

    @Test
    void one_whose_caller_has_left_is_not_sent_again() {
        ManualStatement alone = waitBehind("a", "b");
        Taking taking = take("a", "b");
        callers.get(0).interrupt();
        callers.get(0).failsInterrupted("a interrupted, sent");

        taking.skip("a", "b");
        one.stillWait(callers.get(1));
        alone.answer();

        assertThat(one.store.next().names()).containsExactly("b");
    }

    @Test
    void one_that_is_not_answered_in_time_leaves_without_it() {
        waitBehind("a");
        Taking taking = take("a");

        one.time.advance(BatcherFixture.WAIT_LIMIT.multipliedBy(2));

        callers.get(0).fails("a was not answered");
        taking.answer();
    }

    @Test
    void after_the_end_they_are_answered_or_sent_alone() {
        ManualStatement alone = waitBehind("a", "b", "c");
        Taking taking = take("a", "b");

        one.batcher.close();
        ManualStatement c = one.store.nextAlone();
        assertThat(c.names()).containsExactly("c");
        taking.skip("b");

        callers.get(0).getsItsAnswer();
        one.stillWait(callers.get(1));
        c.answer();
        assertThat(one.store.nextAlone().names()).containsExactly("b");
        alone.answer();
    }

    @Test
    void the_end_waits_for_those_whose_callers_have_left() throws Exception {
        waitBehind("a");
        Taking taking = take("a");
        callers.get(0).interrupt();
        callers.get(0).failsInterrupted("a interrupted, sent");
        one.batcher.close();
        Thread end = new Thread(one.batcher::awaitLeft);
        end.start();
        one.awaitLooks(end);

        taking.answer();

        end.join();
        assertThat(one.store.unclaimed).containsExactly("a");
    }

    /** Sends requests of one key while there is no room. */
    private ManualStatement waitBehind(String... names) {
        ManualStatement alone = one.occupy("first").get(0);
        for (String name : names) {
            callers.add(sendOfKey(name));
        }
        return alone;
    }

    private ManualStatement occupyKey() {
        sendOfKey("alone");
        return one.store.nextAlone();
    }

    private BatchCaller sendOfKey(String name) {
        return one.send(StoreRequest.of(name).ofKey("key"));
    }

    private Taking take(String... names) {
        List<String> wanted = List.of(names);
        return new Taking(one.batcher.takeAlong(request -> wanted.contains(request.name())));
    }

    /** A statement that is under way until the test lets it return. */
    private static final class Taking {

        final List<String> names = new ArrayList<>();

        final Thread thread;

        private final CompletableFuture<ManualStatement> begun = new CompletableFuture<>();

        Taking(TakenRequests<StoreRequest, String> taken) {
            thread = new Thread(() -> taken.send(this::run, answers -> answers));
            if (!taken.isEmpty()) {
                thread.setDaemon(true);
                thread.setUncaughtExceptionHandler((failed, failure) -> {});
                thread.start();
                names.addAll(begun.join().names());
            }
        }

        private List<@Nullable String> run(List<StoreRequest> requests) {
            ManualStatement statement = new ManualStatement(requests, false);
            begun.complete(statement);
            return statement.await();
        }

        void answer() {
            begun.join().answer();
        }

        void skip(String... names) {
            begun.join().skip(names);
        }

        void fail(RuntimeException failure) {
            begun.join().fail(failure);
        }
    }
}
