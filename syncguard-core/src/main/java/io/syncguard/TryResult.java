package io.syncguard;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What became of one attempt. Unlike an {@link Optional}, it tells a lock that was not acquired from a body that
 * returned {@code null}.
 *
 * @param acquired whether the lock was granted, so that the body ran
 * @param value what the body returned; {@code null} if it did not run
 */
public record TryResult<T extends @Nullable Object>(
        boolean acquired, @Nullable T value) {

    private static final TryResult<?> NOT_ACQUIRED = new TryResult<>(false, null);

    static <T extends @Nullable Object> TryResult<T> of(T value) {
        return new TryResult<>(true, value);
    }

    @SuppressWarnings("unchecked")
    static <T extends @Nullable Object> TryResult<T> notAcquired() {
        return (TryResult<T>) NOT_ACQUIRED;
    }

    /** What the body returned, or the other value if it did not run. */
    public @Nullable T orElse(@Nullable T other) {
        return acquired ? value : other;
    }

    /** What the body returned; empty if it did not run, or returned {@code null}. */
    public Optional<T> toOptional() {
        return Optional.ofNullable(value);
    }
}
