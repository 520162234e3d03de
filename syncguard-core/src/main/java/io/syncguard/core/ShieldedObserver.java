package io.syncguard.core;

import io.syncguard.Fence;
import io.syncguard.LockOutcome;
import io.syncguard.LockReason;
import io.syncguard.LockRequest;
import io.syncguard.concurrent.Shielded;
import java.util.Objects;
import java.util.function.Supplier;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Passes everything to an observer of the application, and logs what it throws, which changes nothing for the lock.
 * Thread-safe.
 */
record ShieldedObserver(LockObserver observer) implements LockObserver {

    private static final Log log = LogFactory.getLog(ShieldedObserver.class);

    @Override
    public AcquireObservation acquire(String backend, LockRequest request) {
        return new Acquire(get(() -> observer.acquire(backend, request), AcquireObservation.NONE));
    }

    /** A mock answers {@code null}. */
    private static <T> T get(Supplier<T> observation, T none) {
        Result<T> result = new Result<>(none);
        run(() -> result.value = Objects.requireNonNullElse(observation.get(), none));
        return result.value;
    }

    private static @Nullable String idFrom(Supplier<@Nullable String> traceId) {
        String id = get(() -> Objects.requireNonNullElse(traceId.get(), ""), "");
        return id.isEmpty() ? null : id;
    }

    private static void run(Runnable call) {
        Shielded.run(call, ShieldedObserver::warn);
    }

    private static void warn(Throwable failure) {
        log.warn("A lock observation failed, which changes nothing for the lock", failure);
    }

    private static final class Result<T> {

        private T value;

        Result(T value) {
            this.value = value;
        }
    }

    private record Operation(LockObservation observation) implements LockObservation {

        @Override
        public void ended(LockOutcome outcome) {
            run(() -> observation.ended(outcome));
        }

        @Override
        public void failed(Throwable error) {
            run(() -> observation.failed(error));
        }
    }

    private record Acquire(AcquireObservation observation) implements AcquireObservation {

        @Override
        public void contended(@Nullable String owner) {
            run(() -> observation.contended(owner));
        }

        @Override
        public void waits() {
            run(observation::waits);
        }

        @Override
        public @Nullable String traceId() {
            return idFrom(observation::traceId);
        }

        @Override
        public void ended(LockOutcome outcome) {
            run(() -> observation.ended(outcome));
        }

        @Override
        public void failed(Throwable error) {
            run(() -> observation.failed(error));
        }

        @Override
        public HeldObservation held(Fence fence) {
            return new Held(get(() -> observation.held(fence), HeldObservation.NONE));
        }
    }

    private record ShieldedBody(HeldObservation.Body body) implements HeldObservation.Body {

        @Override
        public void failed(Throwable failure) {
            run(() -> body.failed(failure));
        }

        @Override
        public void ended() {
            run(body::ended);
        }
    }

    private record Held(HeldObservation observation) implements HeldObservation {

        @Override
        public Body body() {
            return new ShieldedBody(get(observation::body, Body.NONE));
        }

        @Override
        public LockObservation extend() {
            return new Operation(get(observation::extend, LockObservation.NONE));
        }

        @Override
        public LockObservation release() {
            return new Operation(get(observation::release, LockObservation.NONE));
        }

        @Override
        public @Nullable String traceId() {
            return idFrom(observation::traceId);
        }

        @Override
        public void released() {
            run(observation::released);
        }

        @Override
        public void lost(LockReason reason, String explanation) {
            run(() -> observation.lost(reason, explanation));
        }
    }
}
