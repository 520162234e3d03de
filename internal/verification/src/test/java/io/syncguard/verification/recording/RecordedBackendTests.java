package io.syncguard.verification.recording;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockErrorCode;
import io.syncguard.core.InterceptedBackend;
import io.syncguard.core.Requests;
import io.syncguard.memory.InMemoryLockBackend;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ForwardingBackend;
import io.syncguard.spi.GrantExtent;
import io.syncguard.verification.history.History;
import io.syncguard.verification.history.HistoryEvent.Outcome;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A list has one event for each of its requests, whenever and however its answer comes. */
class RecordedBackendTests {

    private static final Duration TTL = Duration.ofMinutes(1);
    private static final List<AcquireRequest> REQUESTS = List.of(request("a"), request("taken"), request("b"));

    @TempDir
    private Path directory;

    private final CompletableFuture<List<AcquireResult>> answer = new CompletableFuture<>();
    private HistoryRecorder recorder;
    private CompletableFuture<List<AcquireResult>> recorded;

    @BeforeEach
    void send() {
        recorder = new HistoryRecorder("test", directory.resolve("history"));
        RecordedBackend backend = new RecordedBackend(
                new ForwardingBackend(new InMemoryLockBackend()) {
                    @Override
                    public CompletionStage<List<AcquireResult>> acquire(
                            List<AcquireRequest> requests, GrantExtent extent) {
                        return answer;
                    }
                },
                recorder,
                new KnownLockIds());
        recorded = backend.acquire(REQUESTS, GrantExtent.IN_FRONT).toCompletableFuture();
    }

    @AfterEach
    void close() {
        recorder.close();
    }

    @Test
    void answers_that_come_later_are_recorded() {
        InMemoryLockBackend store = new InMemoryLockBackend();
        store.acquire(List.of(Requests.exclusive("taken", "other", TTL, "test")), GrantExtent.EACH);

        store.acquire(REQUESTS, GrantExtent.IN_FRONT).thenAccept(answer::complete);

        assertThat(outcomes()).isEqualTo(Map.of("a", Outcome.OK, "taken", Outcome.REFUSED, "b", Outcome.FAILED));
    }

    @Test
    void a_failure_that_comes_later_is_recorded_for_each() {
        answer.completeExceptionally(InterceptedBackend.failure(LockErrorCode.AUTH_FAILED));

        assertThat(outcomes()).hasSize(3).containsValue(Outcome.FAILED).doesNotContainValue(Outcome.UNKNOWN);
    }

    @Test
    void who_no_longer_waits_cancels_the_request_and_leaves_it_in_doubt() {
        recorded.cancel(false);

        assertThat(answer).isCancelled();
        assertThat(outcomes()).hasSize(3).containsValue(Outcome.UNKNOWN).doesNotContainValue(Outcome.OK);
    }

    private Map<String, Outcome> outcomes() {
        Map<String, Outcome> outcomes = new HashMap<>();
        History.of(List.of(directory.resolve("history")), directory)
                .forEachKey((key, events) -> events.forEach(event -> outcomes.put(key, event.outcome())));
        return outcomes;
    }

    private static AcquireRequest request(String key) {
        return Requests.exclusive(key, "id of " + key, TTL, "test");
    }
}
