package io.syncguard;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What {@code syncguard.locks.<name>} sets for all locks of a name. It replaces what an annotation or a {@link
 * LockRequest} says; what is {@code null} here stays as it is there. It changes no key, so requests of one name and key
 * exclude each other whatever their settings are.
 *
 * @param property the common start of the properties, for messages, such as {@code syncguard.locks.order}
 * @param ttl see {@link LockRequest#ttl}
 * @param waitTime see {@link LockRequest#waitTime}
 * @param onContention of annotated methods only, whose {@code waitTime} stays as it is
 * @param heartbeat see {@link LockRequest#heartbeat}
 * @param heartbeatInterval see {@link LockRequest#heartbeatInterval}; of locks with a heartbeat only
 * @param onLost see {@link LockRequest#onLost}
 * @param holdAtLeast see {@link LockRequest#holdAtLeast}
 * @param holdAtMost see {@link LockRequest#holdAtMost}
 * @param commitGuard see {@link LockRequest#commitGuard}
 * @param permits see {@link LockRequest#permits}; of shared locks only, an exclusive one stays exclusive
 */
public record LockSettings(
        String property,
        @Nullable Duration ttl,
        @Nullable Duration waitTime,
        @Nullable OnContention onContention,
        @Nullable Boolean heartbeat,
        @Nullable Duration heartbeatInterval,
        @Nullable OnLost onLost,
        @Nullable Duration holdAtLeast,
        @Nullable Duration holdAtMost,
        @Nullable CommitGuard commitGuard,
        @Nullable Integer permits) {

    private static final String LIMITS = "between 0s and " + MessageText.of(LockLimits.MAX_DURATION);

    /** @throws LockSetupException that names the property, when a value is impossible or two contradict each other */
    public LockSettings {
        LockLimits.requireNonNull("property", property);
        if (ttl != null) {
            require(property + ".ttl", ttl, LIMITS.replace("0s", "1ms") + ", in whole milliseconds", LockLimits::ttl);
        }
        if (waitTime != null) {
            require(property + ".wait-time", waitTime, LIMITS, time -> LockLimits.time("time", time));
        }
        if (holdAtLeast != null) {
            require(property + ".hold-at-least", holdAtLeast, LIMITS, time -> LockLimits.time("time", time));
        }
        if (holdAtMost != null) {
            requireAtMost(property, holdAtMost, Objects.requireNonNullElse(holdAtLeast, Duration.ZERO));
        }
        if (permits != null) {
            requirePermits(property, permits);
        }
        if (heartbeatInterval != null) {
            requireInterval(property, heartbeatInterval, Objects.requireNonNullElse(ttl, LockLimits.MAX_DURATION));
            if (Boolean.FALSE.equals(heartbeat)) {
                throw LockSetupException.invalid(
                        property + ".heartbeat is false, but " + property + ".heartbeat-interval is set",
                        "Leave one of them out");
            }
        }
    }

    /**
     * The request with these settings; the same one if they change nothing.
     *
     * @param defaultTtl the ttl of a request that has none
     * @throws LockSetupException that names the property, when a setting contradicts the request
     */
    public LockRequest applyTo(LockRequest request, Duration defaultTtl) {
        if (areIn(request)) {
            return request;
        }
        Duration interval = heartbeatIntervalOf(request);
        if (interval != null) {
            Duration lives = ttl != null ? ttl : Objects.requireNonNullElse(request.ttl(), defaultTtl);
            if (heartbeatInterval != null) {
                requireInterval(property, interval, lives);
            } else if (ttl != null) {
                String limits = "at least three times the heartbeat, which is " + MessageText.of(interval);
                require(property + ".ttl", ttl, limits, time -> LockLimits.heartbeat(interval, time));
            }
        }
        Duration atMost = holdAtMost == null ? request.holdAtMost() : holdAtMost;
        if (holdAtMost != null) {
            requireAtMost(property, holdAtMost, Objects.requireNonNullElse(holdAtLeast, request.holdAtLeast()));
        } else if (atMost != null && holdAtLeast != null) {
            String limits = "at most " + MessageText.of(atMost) + ", the time to hold at most";
            require(property + ".hold-at-least", holdAtLeast, limits, time -> LockLimits.holdAtMost(atMost, time));
        }
        return request.with(this);
    }

    boolean heartbeatOf(LockRequest request) {
        return Objects.requireNonNullElse(heartbeat, request.heartbeat());
    }

    @Nullable
    Duration heartbeatIntervalOf(LockRequest request) {
        if (!heartbeatOf(request)) {
            return null;
        }
        return heartbeatInterval == null ? request.heartbeatInterval() : heartbeatInterval;
    }

    int permitsOf(LockRequest request) {
        return permits == null || request.mode() == LockMode.EXCLUSIVE ? request.permits() : permits;
    }

    private boolean areIn(LockRequest request) {
        return isIn(ttl, request.ttl())
                && (request.exactWaitTime() || isIn(waitTime, request.waitTime()))
                && heartbeatOf(request) == request.heartbeat()
                && Objects.equals(heartbeatIntervalOf(request), request.heartbeatInterval())
                && isIn(onLost, request.onLost())
                && isIn(holdAtLeast, request.holdAtLeast())
                && isIn(holdAtMost, request.holdAtMost())
                && isIn(commitGuard, request.commitGuard())
                && permitsOf(request) == request.permits();
    }

    private static boolean isIn(@Nullable Object setting, @Nullable Object value) {
        return setting == null || setting.equals(value);
    }

    private static void requireAtMost(String property, Duration atMost, Duration atLeast) {
        String limits = atLeast.isZero()
                ? LIMITS.replace("0s", "1ms")
                : LIMITS.replace("0s", MessageText.of(atLeast) + ", the time to hold at least,");
        require(property + ".hold-at-most", atMost, limits, time -> LockLimits.holdAtMost(time, atLeast));
    }

    private static void requirePermits(String property, int permits) {
        try {
            LockLimits.permits(permits);
        } catch (LockException ex) {
            throw LockSetupException.invalid(
                    property + ".permits is " + permits + ", but has to be between 1 and " + LockLimits.MAX_PERMITS,
                    "Correct " + property + ".permits");
        }
    }

    private static void requireInterval(String property, Duration interval, Duration ttl) {
        String limits = "between 1ms and " + MessageText.of(ttl.dividedBy(3).truncatedTo(ChronoUnit.MILLIS))
                + ", a third of the ttl (" + MessageText.of(ttl) + ")";
        require(property + ".heartbeat-interval", interval, limits, time -> LockLimits.heartbeat(time, ttl));
    }

    /** @param limits the limits that {@code check} enforces, for people */
    private static void require(String property, Duration value, String limits, Consumer<Duration> check) {
        try {
            check.accept(value);
        } catch (LockException ex) {
            throw LockSetupException.invalid(
                    property + " is " + MessageText.of(value) + ", but has to be " + limits, "Correct " + property);
        }
    }
}
