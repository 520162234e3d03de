package io.syncguard;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
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
 */
public final class LockRequest {

    /** The name of a request that was given none. */
    public static final String UNNAMED = "unnamed";

    // This is a class because a record has a public constructor that each new option would change.
    private final Values values;

    /** @param values that nobody changes from now on */
    private LockRequest(Values values) {
        values.check();
        this.values = values;
    }

    /**
     * A request for the lock that {@code @DistributedLock} with this {@code name} and this {@code key} takes, with all
     * defaults: its key is {@code name:key}, and meters count it under the name.
     *
     * @param name one of few, such as {@code order}, never made from data
     * @param key what is protected, such as {@code 42}; not blank, because a blank one is usually a forgotten id
     */
    public static LockRequest of(String name, String key) {
        String prefix = LockLimits.name(name);
        String rest = LockLimits.key(key);
        if (rest.isBlank()) {
            throw new IllegalKeyException("The key of a lock '" + name + "' is blank");
        }
        return of(prefix + ":" + rest).meterName(prefix);
    }

    /** A request for the whole key, which is not counted under a name, with all defaults. */
    public static LockRequest of(String key) {
        return new LockRequest(new Values(key));
    }

    /** The same under a name for the meters: one of few, never made from data. It does not change the key. */
    public LockRequest meterName(String name) {
        return with(copy -> copy.name = name);
    }

    /** The same for another key: the whole key, also if the request is {@linkplain #of(String, String) by name}. */
    public LockRequest key(String key) {
        return with(copy -> copy.key = key);
    }

    /** The same in mode {@link LockMode#SHARED}: to read what exclusive holders write. */
    public LockRequest shared() {
        return with(copy -> copy.mode = LockMode.SHARED);
    }

    /**
     * The same for one of so many permits: it is granted while fewer shared leases of the key are held, over all
     * processes. Its mode is {@link LockMode#SHARED}. Each request is judged by its own number.
     *
     * @param permits from 1 to {@value LockLimits#MAX_PERMITS}
     */
    public LockRequest permits(int permits) {
        return with(copy -> {
            copy.mode = LockMode.SHARED;
            copy.permits = LockLimits.permits(permits);
        });
    }

    public LockRequest ttl(Duration ttl) {
        return with(copy -> copy.ttl = ttl);
    }

    public LockRequest waitTime(Duration waitTime) {
        return with(copy -> {
            copy.waitTime = waitTime;
            copy.exactWaitTime = false;
        });
    }

    /**
     * The same with a wait time that no {@code syncguard.locks.<name>.wait-time} replaces, such as what is left until a
     * deadline of the caller.
     */
    public LockRequest waitExactly(Duration waitTime) {
        return with(copy -> {
            copy.waitTime = waitTime;
            copy.exactWaitTime = true;
        });
    }

    /**
     * The same with this heartbeat interval. A shorter one detects a loss sooner, and fits more attempts into a ttl.
     *
     * @param interval from 1 ms to a third of the ttl. If the ttl is {@code syncguard.ttl}, that is checked when the
     *     lock is acquired. A nested request shortens the interval of the lease that it joins
     */
    public LockRequest heartbeat(Duration interval) {
        return with(copy -> {
            copy.heartbeat = true;
            copy.heartbeatInterval = interval;
        });
    }

    /** The same without a heartbeat: the lease ends with its ttl unless it is extended by hand. */
    public LockRequest noHeartbeat() {
        return with(copy -> {
            copy.heartbeat = false;
            copy.heartbeatInterval = null;
        });
    }

    public LockRequest onLost(OnLost onLost) {
        return with(copy -> copy.onLost = onLost);
    }

    public LockRequest holdAtLeast(Duration holdAtLeast) {
        return with(copy -> copy.holdAtLeast = holdAtLeast);
    }

    /**
     * The same with a limit for bodies that hang. When it is over, heartbeats stop, and the lock is lost for its
     * holder: the body is interrupted or told, as for any loss. Others are granted the key when the body has ended, or
     * the last lease has lapsed. A nested request does not limit the lock that it joins.
     *
     * @param holdAtMost from 1 ms to 365 days, counted from the grant, and at least {@code holdAtLeast}
     */
    public LockRequest holdAtMost(Duration holdAtMost) {
        return with(copy -> copy.holdAtMost = holdAtMost);
    }

    /** The same with this guard for the transactions of the body. */
    public LockRequest commitGuard(CommitGuard commitGuard) {
        return with(copy -> copy.commitGuard = commitGuard);
    }

    /** The same with this label of the holder, for people. */
    public LockRequest owner(String owner) {
        return with(copy -> copy.owner = owner);
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

    /** Whether the lock excludes all others of the key. */
    public LockMode mode() {
        return values.mode;
    }

    /** The most shared leases that the key may have, this one included; 0 for no limit. */
    public int permits() {
        return values.permits;
    }

    /** How long a lease lives without an extension; {@code null} for {@code syncguard.ttl}. */
    public @Nullable Duration ttl() {
        return values.ttl;
    }

    /**
     * How long the caller is ready to wait, zero for one attempt; {@code null} for {@code syncguard.wait-time}.
     */
    public @Nullable Duration waitTime() {
        return values.waitTime;
    }

    /** Whether {@code syncguard.locks.<name>.wait-time} leaves the wait time as it is. */
    public boolean exactWaitTime() {
        return values.exactWaitTime;
    }

    /** Whether the lease is extended while it is held. */
    public boolean heartbeat() {
        return values.heartbeat;
    }

    /** How often, at most a third of the ttl; {@code null} for every third of the ttl. */
    public @Nullable Duration heartbeatInterval() {
        return values.heartbeatInterval;
    }

    /** How a body that runs under the lock learns that it was lost. */
    public OnLost onLost() {
        return values.onLost;
    }

    /**
     * The key stays locked for at least this long after the grant, even if it is released earlier; for a nested request
     * after it joined, if that ends later.
     */
    public Duration holdAtLeast() {
        return values.holdAtLeast;
    }

    /** How long after the grant the lock is lost, however long its body runs; {@code null} for no limit. */
    public @Nullable Duration holdAtMost() {
        return values.holdAtMost;
    }

    /** Whether transactions of the body commit only while the lock is held. */
    public CommitGuard commitGuard() {
        return values.commitGuard;
    }

    /** The label that lookups show, for people: see {@link LockLimits#owner}; {@code null} for {@code syncguard.owner}. */
    public @Nullable String owner() {
        return values.owner;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof LockRequest request && values.all().equals(request.values.all());
    }

    @Override
    public int hashCode() {
        return values.all().hashCode();
    }

    @Override
    public String toString() {
        return "LockRequest" + OneLine.of(values.all().toString());
    }

    /** The same with these settings, where they say something. */
    LockRequest with(LockSettings settings) {
        return with(copy -> {
            copy.ttl = settings.ttl() == null ? ttl() : settings.ttl();
            copy.waitTime = settings.waitTime() == null || exactWaitTime() ? waitTime() : settings.waitTime();
            copy.heartbeat = settings.heartbeatOf(this);
            copy.heartbeatInterval = settings.heartbeatIntervalOf(this);
            copy.onLost = Objects.requireNonNullElse(settings.onLost(), onLost());
            copy.holdAtLeast = Objects.requireNonNullElse(settings.holdAtLeast(), holdAtLeast());
            copy.holdAtMost = settings.holdAtMost() == null ? holdAtMost() : settings.holdAtMost();
            copy.commitGuard = Objects.requireNonNullElse(settings.commitGuard(), commitGuard());
            copy.permits = settings.permitsOf(this);
        });
    }

    private LockRequest with(Consumer<Values> change) {
        Values copy = new Values(values);
        change.accept(copy);
        return new LockRequest(copy);
    }

    /** The values of a request. They change only before the request owns them. */
    private static final class Values {

        private String name = UNNAMED;
        private String key;
        private LockMode mode = LockMode.EXCLUSIVE;
        private int permits;
        private @Nullable Duration ttl;
        private @Nullable Duration waitTime;
        private boolean exactWaitTime;
        private boolean heartbeat = true;
        private @Nullable Duration heartbeatInterval;
        private OnLost onLost = OnLost.INTERRUPT;
        private Duration holdAtLeast = Duration.ZERO;
        private @Nullable Duration holdAtMost;
        private CommitGuard commitGuard = CommitGuard.DEFAULT;
        private @Nullable String owner;

        private Values(String key) {
            this.key = key;
        }

        private Values(Values values) {
            this.name = values.name;
            this.key = values.key;
            this.mode = values.mode;
            this.permits = values.permits;
            this.ttl = values.ttl;
            this.waitTime = values.waitTime;
            this.exactWaitTime = values.exactWaitTime;
            this.heartbeat = values.heartbeat;
            this.heartbeatInterval = values.heartbeatInterval;
            this.onLost = values.onLost;
            this.holdAtLeast = values.holdAtLeast;
            this.holdAtMost = values.holdAtMost;
            this.commitGuard = values.commitGuard;
            this.owner = values.owner;
        }

        private void check() {
            LockLimits.requireNonNull("name", name);
            LockLimits.requireNonNull("mode", mode);
            LockLimits.requireNonNull("reaction to a loss", onLost);
            LockLimits.requireNonNull("commit guard", commitGuard);
            key = LockLimits.requestedKey(key);
            if (ttl != null) {
                LockLimits.ttl(ttl);
            }
            if (waitTime != null) {
                LockLimits.time("wait time", waitTime);
            }
            if (heartbeatInterval != null) {
                LockLimits.heartbeat(heartbeatInterval, ttl == null ? LockLimits.MAX_DURATION : ttl);
            }
            LockLimits.time("time to hold at least", holdAtLeast);
            if (holdAtMost != null) {
                LockLimits.holdAtMost(holdAtMost, holdAtLeast);
            }
            if (owner != null) {
                owner = LockLimits.owner(owner);
            }
        }

        private Map<String, @Nullable Object> all() {
            Map<String, @Nullable Object> all = new LinkedHashMap<>();
            all.put("name", name);
            all.put("key", key);
            all.put("mode", mode);
            if (permits > 0) {
                all.put("permits", permits);
            }
            all.put("ttl", ttl);
            all.put("waitTime", waitTime);
            all.put("exactWaitTime", exactWaitTime);
            all.put("heartbeat", heartbeat);
            all.put("heartbeatInterval", heartbeatInterval);
            all.put("onLost", onLost);
            all.put("holdAtLeast", holdAtLeast);
            all.put("holdAtMost", holdAtMost);
            all.put("commitGuard", commitGuard);
            all.put("owner", owner);
            return all;
        }
    }
}
