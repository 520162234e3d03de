package io.syncguard.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;

/** Each step of a batcher, on a store that answers when the test says so. */
class AsyncBatcherTests {

    private final List<Call> calls = new ArrayList<>();
    private final AsyncBatcher<String, String> batcher = new AsyncBatcher<>(
            requests -> {
                calls.add(new Call(requests, new CompletableFuture<>()));
                return calls.get(calls.size() - 1).answers;
            },
            new AsyncBatcher.Limits(2, 1, 3));

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
    void what_comes_meanwhile_departs_together_in_the_order_of_arrival() throws Exception {
        batcher.send("a");
        BatchedReply<String, String> b = batcher.send("b");
        BatchedReply<String, String> c = batcher.send("c");
        assertThat(calls).hasSize(1);
        assertThat(b.wasSent()).isFalse();

        calls.get(0).answer();

        assertThat(calls).hasSize(2);
        assertThat(calls.get(1).requests).containsExactly("b", "c");
        calls.get(1).answer();
        assertThat(b.get()).isEqualTo("answer to b");
        assertThat(c.get()).isEqualTo("answer to c");
    }

    @Test
    void a_batch_has_so_many_requests_at_most() {
        List.of("a", "b", "c", "d", "e").forEach(batcher::send);

        calls.get(0).answer();
        calls.get(1).answer();

        assertThat(calls)
                .extracting(Call::requests)
                .containsExactly(List.of("a"), List.of("b", "c", "d"), List.of("e"));
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
    void a_caller_that_leaves_a_batch_disturbs_nobody() throws Exception {
        batcher.send("a");
        BatchedReply<String, String> left = batcher.send("left");
        BatchedReply<String, String> stays = batcher.send("stays");
        calls.get(0).answer();

        left.cancel(false);

        assertThat(left.wasSent()).isTrue();
        assertThat(calls.get(1).answers).isNotDone();
        calls.get(1).answer();
        assertThat(stays.get()).isEqualTo("answer to stays");
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
    void too_few_answers_are_nobodys() {
        BatchedReply<String, String> a = batcher.send("a");

        calls.get(0).answers.complete(List.of());

        assertFails(a, "0 answers to 1 requests");
    }

    private static void assertFails(BatchedReply<String, String> reply, String message) {
        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(reply::get)
                .withStackTraceContaining(message);
    }
}
