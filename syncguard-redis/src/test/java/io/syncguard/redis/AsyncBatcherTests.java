package io.syncguard.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Each step of a batcher, on a store that answers when the test says so. */
class AsyncBatcherTests {

    private final List<Call> calls = new ArrayList<>();
    private final AsyncBatcher<String, String> batcher = batcher(new AsyncBatcher.Limits(2, 1, 3));

    /** What happens elsewhere while a batch is being sent. */
    private Runnable whileSending = () -> {};

    private AsyncBatcher<String, String> batcher(AsyncBatcher.Limits limits) {
        return new AsyncBatcher<>(
                requests -> {
                    Call call = new Call(requests, new CompletableFuture<>());
                    calls.add(call);
                    whileSending.run();
                    return call.answers;
                },
                limits);
    }

    private record Call(List<String> requests, CompletableFuture<List<String>> answers) {

        void answer() {
            answers.complete(
                    requests.stream().map(request -> "answer to " + request).toList());
        }
    }

    @Test
    void few_callers_send_their_requests_alone() {
        assertThat(batcher.enter()).isTrue();
        assertThat(batcher.enter()).isTrue();
        assertThat(batcher.enter()).isFalse();

        batcher.leave();
        batcher.leave();

        assertThat(batcher.enter()).isTrue();
    }

    @Test
    void a_request_departs_at_once_while_there_is_room() {
        BatchedReply<String, String> reply = batcher.send("a");

        assertThat(calls)
                .singleElement()
                .satisfies(call -> assertThat(call.requests).containsExactly("a"));
        assertThat(reply.wasSent()).isTrue();
        assertThat(reply).isNotDone();
    }

    @Test
    void what_comes_meanwhile_departs_together_in_the_order_of_arrival() {
        enter(batcher, 6);
        batcher.send("a");
        BatchedReply<String, String> b = batcher.send("b");
        BatchedReply<String, String> c = batcher.send("c");
        assertThat(calls).hasSize(1);
        assertThat(b.wasSent()).isFalse();

        calls.get(0).answer();

        assertThat(calls).hasSize(2);
        assertThat(calls.get(1).requests).containsExactly("b", "c");
        calls.get(1).answer();
        assertThat(b).isCompletedWithValue("answer to b");
        assertThat(c).isCompletedWithValue("answer to c");
    }

    @Test
    void a_batch_has_so_many_requests_at_most() {
        enter(batcher, 6);
        List.of("a", "b", "c", "d", "e").forEach(batcher::send);

        calls.get(0).answer();
        calls.get(1).answer();

        assertThat(calls)
                .extracting(Call::requests)
                .containsExactly(List.of("a"), List.of("b", "c", "d"), List.of("e"));
    }

    @Test
    void a_batch_leaves_requests_for_those_that_overlap_with_it() {
        AsyncBatcher<String, String> pipelined = batcher(new AsyncBatcher.Limits(0, 2, 100));
        enter(pipelined, 6);

        Stream.of("abcdefgh".split("")).forEach(pipelined::send);
        calls.get(0).answer();

        assertThat(calls)
                .extracting(Call::requests)
                .containsExactly(List.of("a"), List.of("b"), List.of("c", "d", "e", "f"));
    }

    @Test
    void a_batch_waits_only_if_as_many_are_under_way_as_may_be() {
        AsyncBatcher<String, String> pipelined = batcher(new AsyncBatcher.Limits(0, 2, 3));
        enter(pipelined, 6);

        List.of("a", "b", "c", "d").forEach(pipelined::send);
        assertThat(calls).extracting(Call::requests).containsExactly(List.of("a"), List.of("b"));
        calls.get(1).answer();

        assertThat(calls).extracting(Call::requests).containsExactly(List.of("a"), List.of("b"), List.of("c", "d"));
    }

    @Test
    void what_comes_while_a_batch_is_being_sent_departs_in_the_next_one() {
        whileSending = () -> {
            whileSending = () -> {};
            batcher.send("b");
        };

        batcher.send("a");
        calls.get(0).answer();

        assertThat(calls).extracting(Call::requests).containsExactly(List.of("a"), List.of("b"));
    }

    @Test
    void the_next_batch_departs_before_answers_are_delivered() {
        List<Integer> callsAtDelivery = new ArrayList<>();
        batcher.send("a").thenAccept(any -> callsAtDelivery.add(calls.size()));
        batcher.send("b");

        calls.get(0).answer();

        assertThat(callsAtDelivery).containsExactly(2);
    }

    @Test
    void a_caller_that_leaves_the_queue_is_not_sent_and_knows_it() {
        batcher.send("a");
        BatchedReply<String, String> left = batcher.send("left");
        batcher.send("c");

        assertThat(left.cancel(false)).isTrue();
        calls.get(0).answer();

        assertThat(calls.get(1).requests).containsExactly("c");
        assertThat(left.wasSent()).isFalse();
    }

    @Test
    void a_caller_that_leaves_a_batch_disturbs_nobody() {
        enter(batcher, 6);
        batcher.send("a");
        BatchedReply<String, String> left = batcher.send("left");
        BatchedReply<String, String> stays = batcher.send("stays");
        calls.get(0).answer();

        left.cancel(false);

        assertThat(left.wasSent()).isTrue();
        assertThat(calls.get(1).answers).isNotDone();
        calls.get(1).answer();
        assertThat(stays).isCompletedWithValue("answer to stays");
    }

    /** Nobody knows whether the store ever answers. */
    @Test
    void a_batch_that_all_callers_have_left_is_cancelled_and_makes_room() {
        BatchedReply<String, String> first = batcher.send("first");
        batcher.send("next");

        first.cancel(false);

        assertThat(calls.get(0).answers).isCancelled();
        assertThat(calls.get(1).requests).containsExactly("next");
    }

    @Test
    void a_caller_that_has_left_the_queue_does_not_keep_the_batch_of_the_others() {
        batcher.send("a");
        BatchedReply<String, String> leftTheQueue = batcher.send("left the queue");
        BatchedReply<String, String> leavesTheBatch = batcher.send("leaves the batch");
        leftTheQueue.cancel(false);
        calls.get(0).answer();

        leavesTheBatch.cancel(false);

        assertThat(calls.get(1).answers).isCancelled();
    }

    @Test
    void a_batch_that_all_callers_leave_while_it_is_being_sent_is_cancelled_once_it_is_sent() {
        batcher.send("a");
        BatchedReply<String, String> left = batcher.send("left");
        whileSending = () -> {
            whileSending = () -> {};
            left.cancel(false);
        };

        calls.get(0).answer();
        batcher.send("next");

        assertThat(calls.get(1).answers).isCancelled();
        assertThat(calls.get(2).requests).containsExactly("next");
    }

    @Test
    void an_answer_to_a_batch_that_all_callers_have_left_makes_no_more_room() {
        BatchedReply<String, String> left = batcher.send("left");
        left.cancel(false);
        batcher.send("b");
        batcher.send("c");

        calls.get(0).answer();

        assertThat(left).isCancelled();
        assertThat(calls).extracting(Call::requests).containsExactly(List.of("left"), List.of("b"));
    }

    @Test
    void a_caller_that_has_its_answer_does_not_leave() {
        BatchedReply<String, String> answered = batcher.send("a");
        calls.get(0).answer();

        assertThat(answered.cancel(false)).isFalse();

        batcher.send("b");
        assertThat(calls.get(1).answers).isNotDone();
    }

    @Test
    void when_all_have_left_the_queue_the_room_stays() {
        batcher.send("a");
        batcher.send("b").cancel(false);
        calls.get(0).answer();
        assertThat(calls).hasSize(1);

        batcher.send("c");

        assertThat(calls.get(1).requests).containsExactly("c");
    }

    @Test
    void a_failed_batch_fails_each_of_its_requests_and_makes_room() {
        BatchedReply<String, String> a = batcher.send("a");
        batcher.send("next");

        calls.get(0).answers.completeExceptionally(new IllegalStateException("lost"));

        assertFails(a, "lost");
        assertThat(calls.get(1).requests).containsExactly("next");
    }

    @Test
    void a_sender_that_throws_fails_its_requests_and_keeps_no_room() {
        AsyncBatcher<String, String> broken = new AsyncBatcher<>(
                requests -> {
                    throw new IllegalStateException("no connection");
                },
                new AsyncBatcher.Limits(0, 1, 3));

        assertFails(broken.send("a"), "no connection");
        assertFails(broken.send("b"), "no connection");
    }

    @Test
    void a_batch_that_cannot_be_sent_fails_neither_the_batch_before_nor_the_one_behind() {
        enter(batcher, 6);
        BatchedReply<String, String> before = batcher.send("before");
        List<BatchedReply<String, String>> unsent =
                Stream.of("b", "c", "d").map(batcher::send).toList();
        BatchedReply<String, String> behind = batcher.send("behind");
        whileSending = () -> {
            whileSending = () -> {};
            throw new IllegalStateException("no connection");
        };

        calls.get(0).answer();
        calls.get(2).answer();

        assertThat(before).isCompletedWithValue("answer to before");
        assertThat(unsent).allSatisfy(reply -> assertFails(reply, "no connection"));
        assertThat(behind).isCompletedWithValue("answer to behind");
    }

    @Test
    void too_few_or_too_many_answers_are_nobodys() {
        BatchedReply<String, String> a = batcher.send("a");
        BatchedReply<String, String> b = batcher.send("b");

        calls.get(0).answers.complete(List.of());
        calls.get(1).answers.complete(List.of("answer to a", "answer to b"));

        assertFails(a, "0 answers to 1 requests");
        assertFails(b, "2 answers to 1 requests");
    }

    private static void enter(AsyncBatcher<?, ?> batcher, int callers) {
        for (int i = 0; i < callers; i++) {
            batcher.enter();
        }
    }

    private static void assertFails(BatchedReply<String, String> reply, String message) {
        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(() -> reply.get(0, TimeUnit.SECONDS))
                .withStackTraceContaining(message);
    }
}
