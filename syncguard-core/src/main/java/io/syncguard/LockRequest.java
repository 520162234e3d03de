package io.syncguard;

import java.time.Duration;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What a caller asks for: a key, and how to wait for it and hold it. Immutable; each method returns a changed copy.
 *
 * <pre>{@code
 * LockRequest.of("order", "42").ttl(Duration.ofSeconds(10)).waitTime(Duration.ZERO)
 * }</pre>
 *
 * <p>An operator may replace its times and reactions: the properties {@code syncguard.locks.<name>.*} beat what the
 * code says, as they beat the annotation.
 *
 * <p>An impossible value fails at once, with a {@link LockException} and {@link LockErrorCode#INVALID_ARGUMENT}.
 */
public final class LockRequest {

    /** The name of a request that was given none. */
    public static final String UNNAMED = "unnamed";

    // This is a class because a record has a public constructor that each new option would change.
    private final Values values;

    private LockRequest(Values values) {
        this.values = values;
    }

    /**
     * A request for the lock that {@code @DistributedLock} with this {@code name} and this {@code key} takes, with all
     * defaults: its key is {@code name:key}, and meters count it under the name.
     *
     * @param name one of few, such as {@code order}, never made from data; 1 to {@value LockLimits#MAX_KEY_BYTES} UTF-8
     *     bytes
     * @param key what is protected, such as {@code 42}; not blank, because a blank one is usually a forgotten id. With
     *     the name and a colon, at most {@value LockLimits#MAX_KEY_BYTES} UTF-8 bytes
     * @throws IllegalKeyException when the key is blank, or is none: see {@link #key()}
     */
    public static LockRequest of(String name, String key) {
        String prefix = LockLimits.name(name);
        String rest = LockLimits.key(key);
        if (rest.isBlank()) {
            throw new IllegalKeyException("The key of a lock '" + name + "' is blank");
        }
        return of(prefix + ":" + rest).meterName(prefix);
    }

    /**
     * A request for the whole key, which is not counted under a name, with all defaults.
     *
     * @param key from 1 to {@value LockLimits#MAX_KEY_BYTES} UTF-8 bytes
     * @throws IllegalKeyException when it is none: see {@link #key()}
     */
    public static LockRequest of(String key) {
        return new LockRequest(new Values(UNNAMED, key, LockMode.EXCLUSIVE, false, null, LockSettings.DEFAULTS));
    }

    /**
     * Sets the name for meters and for {@code syncguard.locks.<name>.*}; default {@value #UNNAMED}. It does not change
     * the key.
     *
     * @param name one of few, never made from data; of any length
     */
    public LockRequest meterName(String name) {
        return new LockRequest(
                new Values(name, values.key, values.mode, values.exactWaitTime, values.owner, values.settings));
    }

    /**
     * Sets the whole key, also if the request is {@linkplain #of(String, String) by name}.
     *
     * @param key from 1 to {@value LockLimits#MAX_KEY_BYTES} UTF-8 bytes
     * @throws IllegalKeyException when it is none: see {@link #key()}
     */
    public LockRequest key(String key) {
        return new LockRequest(
                new Values(values.name, key, values.mode, values.exactWaitTime, values.owner, values.settings));
    }

    /**
     * Sets the mode {@link LockMode#SHARED}: to read what exclusive holders write. Default {@link LockMode#EXCLUSIVE}.
     */
    public LockRequest shared() {
        return with(LockMode.SHARED, values.exactWaitTime, settings -> {});
    }

    /**
     * Asks for one of so many permits: it is granted while fewer shared leases of the key are held, over all processes.
     * The mode is {@link LockMode#SHARED}. Each request is judged by its own number. Default: no limit.
     *
     * @param permits from 1 to {@value LockLimits#MAX_PERMITS}
     */
    public LockRequest permits(int permits) {
        LockLimits.permits(permits);
        return with(LockMode.SHARED, values.exactWaitTime, settings -> settings.permits = permits);
    }

    /**
     * Sets how long a lease lives without an extension. A shorter one frees the key sooner after a crash; a longer one
     * survives longer outages. Default {@code syncguard.ttl}, which is 30 s unless set.
     *
     * @param ttl from 1 ms to 365 days, in whole milliseconds; at least 3 ms with a {@link #heartbeat} of its own
     */
    public LockRequest ttl(Duration ttl) {
        return with(settings -> settings.ttl = ttl);
    }

    /**
     * Sets how long the caller waits for the lock. Default {@code syncguard.wait-time}, which is 5 s unless set.
     *
     * @param waitTime up to 365 days. Zero is one attempt, which does not pass waiting callers
     */
    public LockRequest waitTime(Duration waitTime) {
        return with(values.mode, false, settings -> settings.waitTime = waitTime);
    }

    /**
     * Sets a wait time that no {@code syncguard.locks.<name>.wait-time} replaces, such as what is left until a deadline
     * of the caller. Default: the {@linkplain #waitTime(Duration) wait time} may be replaced.
     *
     * @param waitTime up to 365 days. Zero is one attempt, which does not pass waiting callers
     */
    public LockRequest waitExactly(Duration waitTime) {
        return with(values.mode, true, settings -> settings.waitTime = waitTime);
    }

    /**
     * Sets how often the lease is extended; default every third of the ttl. A shorter interval detects a loss sooner,
     * and fits more attempts into a ttl.
     *
     * @param interval from 1 ms to a third of the ttl. If the ttl is {@code syncguard.ttl}, that is checked when the
     *     lock is acquired. A nested request shortens the interval of the lease that it joins
     */
    public LockRequest heartbeat(Duration interval) {
        return with(settings -> {
            settings.heartbeat = true;
            settings.heartbeatInterval = interval;
        });
    }

    /** Turns the heartbeat off: the lease ends with its ttl unless it is extended by hand. Default: on. */
    public LockRequest noHeartbeat() {
        return with(settings -> {
            settings.heartbeat = false;
            settings.heartbeatInterval = null;
        });
    }

    /** Sets how a body that runs under the lock learns that it was lost; default {@link OnLost#INTERRUPT}. */
    public LockRequest onLost(OnLost onLost) {
        LockLimits.requireNonNull("reaction to a loss", onLost);
        return with(settings -> settings.onLost = onLost);
    }

    /**
     * Keeps the key locked for at least this long after the grant, even if it is released earlier. No thread waits for
     * that. Default: zero.
     *
     * @param holdAtLeast up to 365 days
     */
    public LockRequest holdAtLeast(Duration holdAtLeast) {
        LockLimits.time("time to hold at least", holdAtLeast);
        return with(settings -> settings.holdAtLeast = holdAtLeast);
    }

    /**
     * Sets a limit for bodies that hang; default none. When it is over, heartbeats stop, and the lock is lost for its
     * holder: the body is interrupted or told, as for any loss. Others are granted the key when the body has ended, or
     * the last lease has lapsed. A nested request does not limit the lock that it joins.
     *
     * @param holdAtMost from 1 ms to 365 days, counted from the grant, and at least {@code holdAtLeast}
     */
    public LockRequest holdAtMost(Duration holdAtMost) {
        return with(settings -> settings.holdAtMost = holdAtMost);
    }

    /**
     * Sets which transactions of the body commit only while the lock is held; default {@link CommitGuard#DEFAULT},
     * which is {@code syncguard.commit-guard}.
     */
    public LockRequest commitGuard(CommitGuard commitGuard) {
        LockLimits.requireNonNull("commit guard", commitGuard);
        return with(settings -> settings.commitGuard = commitGuard);
    }

    /**
     * Sets the label of the holder that lookups show; default {@code syncguard.owner}. It decides nothing.
     *
     * @param owner at most {@value LockLimits#MAX_KEY_BYTES} UTF-8 bytes; may be empty
     */
    public LockRequest owner(String owner) {
        return new LockRequest(
                new Values(values.name, values.key, values.mode, values.exactWaitTime, owner, values.settings));
    }

    /** The bounded name under which meters count it, {@value #UNNAMED} unless given. */
    public String name() {
        return values.name;
    }

    /**
     * What is protected: see {@link LockLimits#key}; without the text of an object that has no {@code toString()}, such
     * as {@code shop.Order@49cb5030}.
     */
    public String key() {
        return values.key;
    }

    /** Whether the lock excludes all others of the key; default {@link LockMode#EXCLUSIVE}. */
    public LockMode mode() {
        return values.mode;
    }

    /**
     * The most shared leases that the key may have, this one included: up to {@value LockLimits#MAX_PERMITS}; 0, the
     * default, for no limit.
     */
    public int permits() {
        return Objects.requireNonNullElse(values.settings.permits(), 0);
    }

    /**
     * How long a lease lives without an extension, in whole milliseconds up to 365 days; {@code null}, the default, for
     * {@code syncguard.ttl}.
     */
    public @Nullable Duration ttl() {
        return values.settings.ttl();
    }

    /**
     * How long the caller is ready to wait, up to 365 days, zero for one attempt; {@code null}, the default, for
     * {@code syncguard.wait-time}.
     */
    public @Nullable Duration waitTime() {
        return values.settings.waitTime();
    }

    /** Whether {@code syncguard.locks.<name>.wait-time} leaves the wait time as it is; default {@code false}. */
    public boolean exactWaitTime() {
        return values.exactWaitTime;
    }

    /** Whether the lease is extended while it is held; default {@code true}. */
    public boolean heartbeat() {
        return !Boolean.FALSE.equals(values.settings.heartbeat());
    }

    /** How often, from 1 ms to a third of the ttl; {@code null}, the default, for every third of the ttl. */
    public @Nullable Duration heartbeatInterval() {
        return values.settings.heartbeatInterval();
    }

    /** How a body that runs under the lock learns that it was lost; default {@link OnLost#INTERRUPT}. */
    public OnLost onLost() {
        return Objects.requireNonNullElse(values.settings.onLost(), OnLost.INTERRUPT);
    }

    /**
     * How long the key stays locked after the grant, even if it is released earlier; for a nested request after it
     * joined, if that ends later. Zero by default, and up to 365 days.
     */
    public Duration holdAtLeast() {
        return Objects.requireNonNullElse(values.settings.holdAtLeast(), Duration.ZERO);
    }

    /**
     * How long after the grant the lock is lost, however long its body runs: up to 365 days; {@code null}, the default,
     * for no limit.
     */
    public @Nullable Duration holdAtMost() {
        return values.settings.holdAtMost();
    }

    /** Which transactions of the body commit only while the lock is held; default {@link CommitGuard#DEFAULT}. */
    public CommitGuard commitGuard() {
        return Objects.requireNonNullElse(values.settings.commitGuard(), CommitGuard.DEFAULT);
    }

    /**
     * The label that lookups show: see {@link LockLimits#owner}; {@code null}, the default, for
     * {@code syncguard.owner}.
     */
    public @Nullable String owner() {
        return values.owner;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof LockRequest request && values.equals(request.values);
    }

    @Override
    public int hashCode() {
        return values.hashCode();
    }

    @Override
    public String toString() {
        return OneLine.of(values.toString().replaceFirst("^Values", "LockRequest"));
    }

    LockSettings settings() {
        return values.settings;
    }

    LockRequest with(LockSettings settings) {
        return new LockRequest(
                new Values(values.name, values.key, values.mode, values.exactWaitTime, values.owner, settings));
    }

    private LockRequest with(Consumer<LockSettings.Draft> change) {
        return with(values.mode, values.exactWaitTime, change);
    }

    private LockRequest with(LockMode mode, boolean exactWaitTime, Consumer<LockSettings.Draft> change) {
        LockSettings.Draft draft = new LockSettings.Draft(values.settings);
        change.accept(draft);
        return new LockRequest(
                new Values(values.name, values.key, mode, exactWaitTime, values.owner, draft.settings()));
    }

    private record Values(
            String name,
            String key,
            LockMode mode,
            boolean exactWaitTime,
            @Nullable String owner,
            LockSettings settings) {

        private Values {
            LockLimits.requireNonNull("name", name);
            key = LockLimits.requestedKey(key);
            if (owner != null) {
                owner = LockLimits.owner(owner);
            }
            if (settings.ttl() != null) {
                LockLimits.ttl(settings.ttl());
            }
            if (settings.waitTime() != null) {
                LockLimits.time("wait time", settings.waitTime());
            }
            if (settings.heartbeatInterval() != null) {
                LockLimits.heartbeat(
                        settings.heartbeatInterval(),
                        Objects.requireNonNullElse(settings.ttl(), LockLimits.MAX_DURATION));
            }
            if (settings.holdAtMost() != null) {
                LockLimits.holdAtMost(
                        settings.holdAtMost(), Objects.requireNonNullElse(settings.holdAtLeast(), Duration.ZERO));
            }
        }
    }
}
