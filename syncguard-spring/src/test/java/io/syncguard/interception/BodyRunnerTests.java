package io.syncguard.interception;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockUnavailableException;
import io.syncguard.testing.ScarceThreads;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A lock that is held for a future is released at its end, even if no thread can be made for that. */
@Timeout(60)
class BodyRunnerTests {

    private final ScarceThreads threads = new ScarceThreads();
    private final BodyRunner bodies = new BodyRunner(threads);
    private final AtomicInteger ends = new AtomicInteger();

    @AfterEach
    void close() {
        bodies.close();
    }

    @Test
    void a_stage_ends_on_the_thread_that_completes_it_when_no_other_can_be_made() {
        CompletableFuture<String> source = new CompletableFuture<>();
        CompletableFuture<@Nullable Object> held = held(source, cancelled -> ends.incrementAndGet());
        threads.exhausted = true;

        source.complete("done");

        assertThat(held).isCompletedWithValue("done");
        assertThat(ends).hasValue(1);
    }

    @Test
    void a_plain_future_is_waited_for_on_the_callers_thread_when_no_other_can_be_made() {
        FutureTask<String> source = new FutureTask<>(() -> "done");
        threads.newThread(source).start();
        threads.exhausted = true;

        CompletableFuture<@Nullable Object> held = held(source, cancelled -> ends.incrementAndGet());

        assertThat(held).isCompletedWithValue("done");
        assertThat(ends).hasValue(1);
    }

    @Test
    void an_error_at_the_end_ends_the_future() {
        CompletableFuture<String> source = new CompletableFuture<>();
        CompletableFuture<@Nullable Object> held = held(source, cancelled -> {
            throw ScarceThreads.shortage();
        });

        source.complete("done");

        assertThatThrownBy(() -> held.get(10, TimeUnit.SECONDS)).hasCauseInstanceOf(InternalError.class);
    }

    @Test
    void a_plain_future_that_breaks_its_contract_ends_the_lock_and_the_result() {
        NoClassDefFoundError failure = new NoClassDefFoundError("io/example/Gone");
        Future<String> source = new FutureTask<>(() -> "never run") {
            @Override
            public String get() {
                throw failure;
            }
        };

        CompletableFuture<@Nullable Object> held = held(source, cancelled -> ends.incrementAndGet());

        assertThatThrownBy(() -> held.get(10, TimeUnit.SECONDS)).hasCause(failure);
        assertThat(ends).hasValue(1);
    }

    @Test
    void a_server_that_failed_in_the_work_of_a_future_did_not_fail_before_it() {
        CompletableFuture<String> source = new CompletableFuture<>();
        CompletableFuture<@Nullable Object> held = held(source, cancelled -> ends.incrementAndGet());

        source.completeExceptionally(
                new LockUnavailableException(LockErrorCode.SERVICE_UNAVAILABLE, "of another lock", null));

        assertThatThrownBy(() -> held.get(10, TimeUnit.SECONDS))
                .cause()
                .isExactlyInstanceOf(LockBackendException.class)
                .hasMessage("of another lock");
    }

    @Test
    void an_error_at_the_end_does_not_hide_that_of_the_method() {
        IllegalStateException failure = new IllegalStateException("of the method");

        assertThatThrownBy(() -> bodies.run(
                        () -> {
                            throw failure;
                        },
                        cancelled -> {
                            throw ScarceThreads.shortage();
                        },
                        onLost -> {}))
                .isSameAs(failure);
        assertThat(failure.getSuppressed()).hasOnlyElementsOfType(InternalError.class);
    }

    @SuppressWarnings("unchecked")
    private CompletableFuture<@Nullable Object> held(Future<?> source, Consumer<@Nullable Throwable> end) {
        try {
            return (CompletableFuture<@Nullable Object>) bodies.run(() -> source, end, onLost -> {});
        } catch (Exception ex) {
            throw new IllegalStateException(ex);
        }
    }
}
