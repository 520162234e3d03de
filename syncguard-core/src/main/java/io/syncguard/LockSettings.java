package io.syncguard;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * How a lock is held and waited for: what a {@link LockRequest} says, and what {@code syncguard.locks.<name>.*}
 * replaces of it. What is {@code null} here stays as the request has it. Settings change no key, so requests of one
 * name and key exclude each other whatever their settings are.
 *
 * @param ttl see {@link LockRequest#ttl}
 * @param waitTime see {@link LockRequest#waitTime}
 * @param onContention of annotated methods only, whose {@code waitTime} stays as it is
 * @param heartbeat whether the lease is extended while it is held
 * @param heartbeatInterval see {@link LockRequest#heartbeat}; of locks with a heartbeat only
 * @param onLost see {@link LockRequest#onLost}
 * @param holdAtLeast see {@link LockRequest#holdAtLeast}
 * @param holdAtMost see {@link LockRequest#holdAtMost}
 * @param commitGuard see {@link LockRequest#commitGuard}
 * @param permits see {@link LockRequest#permits}; of shared locks only, an exclusive one stays exclusive
 */
public record LockSettings(
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

    /** What a request says until it is changed. */
    static final LockSettings DEFAULTS = new LockSettings(
            null, null, null, true, null, OnLost.INTERRUPT, Duration.ZERO, null, CommitGuard.DEFAULT, null);

    private static final String LIMITS = "between 0s and " + MessageText.of(LockLimits.MAX_DURATION);

    /** Names that Spring Boot reads as keys of maps without brackets. */
    private static final Pattern SIMPLE = Pattern.compile("[A-Za-z0-9-]+");

    /** The common start of the properties of a name: {@code syncguard.locks.order}. */
    public static String property(String name) {
        return "syncguard.locks" + (SIMPLE.matcher(name).matches() ? "." + name : "[" + name + "]");
    }

    /**
     * Checks the settings of a name.
     *
     * @throws LockSetupException that names the property, when a value is impossible or two contradict each other
     */
    public void check(String name) {
        String property = property(name);
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
     * The request with these settings of its name; the same one if they change nothing.
     *
     * @param defaultTtl the ttl of a request that has none
     * @throws LockSetupException that names the property, when a setting contradicts the request
     */
    public LockRequest applyTo(LockRequest request, Duration defaultTtl) {
        LockSettings both = over(request);
        if (both.equals(request.settings())) {
            return request;
        }
        String property = property(request.name());
        Duration interval = both.heartbeatInterval;
        if (heartbeatInterval != null && interval != null) {
            requireInterval(property, interval, Objects.requireNonNullElse(both.ttl, defaultTtl));
        } else if (ttl != null && interval != null) {
            String limits = "at least three times the heartbeat, which is " + MessageText.of(interval);
            require(property + ".ttl", ttl, limits, time -> LockLimits.heartbeat(interval, time));
        }
        Duration atMost = both.holdAtMost;
        if (holdAtMost != null) {
            requireAtMost(property, holdAtMost, Objects.requireNonNullElse(both.holdAtLeast, Duration.ZERO));
        } else if (atMost != null && holdAtLeast != null) {
            String limits = "at most " + MessageText.of(atMost) + ", the time to hold at most";
            require(property + ".hold-at-least", holdAtLeast, limits, time -> LockLimits.holdAtMost(atMost, time));
        }
        return request.with(both);
    }

    /** These settings, and those of the request where they say nothing. */
    private LockSettings over(LockRequest request) {
        LockSettings given = request.settings();
        boolean extended = heartbeat == null ? request.heartbeat() : heartbeat;
        return new LockSettings(
                or(ttl, given.ttl),
                request.exactWaitTime() ? given.waitTime : or(waitTime, given.waitTime),
                given.onContention,
                extended,
                extended ? or(heartbeatInterval, given.heartbeatInterval) : null,
                or(onLost, given.onLost),
                or(holdAtLeast, given.holdAtLeast),
                or(holdAtMost, given.holdAtMost),
                or(commitGuard, given.commitGuard),
                request.mode() == LockMode.EXCLUSIVE ? given.permits : or(permits, given.permits));
    }

    private static <T> @Nullable T or(@Nullable T setting, @Nullable T given) {
        return setting == null ? given : setting;
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

    /** @param limits the limits that {@code check} enforces, as the message shows them */
    private static void require(String property, Duration value, String limits, Consumer<Duration> check) {
        try {
            check.accept(value);
        } catch (LockException ex) {
            throw LockSetupException.invalid(
                    property + " is " + MessageText.of(value) + ", but has to be " + limits, "Correct " + property);
        }
    }

    /** A copy that changes before a request owns it. */
    static final class Draft {

        @Nullable
        Duration ttl;

        @Nullable
        Duration waitTime;

        @Nullable
        Boolean heartbeat;

        @Nullable
        Duration heartbeatInterval;

        @Nullable
        OnLost onLost;

        @Nullable
        Duration holdAtLeast;

        @Nullable
        Duration holdAtMost;

        @Nullable
        CommitGuard commitGuard;

        @Nullable
        Integer permits;

        Draft(LockSettings settings) {
            ttl = settings.ttl;
            waitTime = settings.waitTime;
            heartbeat = settings.heartbeat;
            heartbeatInterval = settings.heartbeatInterval;
            onLost = settings.onLost;
            holdAtLeast = settings.holdAtLeast;
            holdAtMost = settings.holdAtMost;
            commitGuard = settings.commitGuard;
            permits = settings.permits;
        }

        LockSettings settings() {
            return new LockSettings(
                    ttl,
                    waitTime,
                    null,
                    heartbeat,
                    heartbeatInterval,
                    onLost,
                    holdAtLeast,
                    holdAtMost,
                    commitGuard,
                    permits);
        }
    }
}
