package io.syncguard;

import java.nio.charset.StandardCharsets;
import java.text.Normalizer;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What a caller may ask for. Every value is checked here and nowhere else, before anything is sent to a server.
 *
 * <p>Thread-safe. Each method returns the value to use, or throws {@link LockException} with
 * {@link LockErrorCode#INVALID_ARGUMENT}.
 */
public final class LockLimits {

    /** The longest key, in UTF-8 bytes after normalisation. */
    public static final int MAX_KEY_BYTES = 512;

    /**
     * The most chars of a text whose normal form may have {@value #MAX_KEY_BYTES} UTF-8 bytes: three for two bytes, as
     * in U+03B9 U+0308 U+0301, which are U+0390. A longer text is refused unread: normalising a run of marks takes time
     * that grows with the square of its length.
     */
    static final int MAX_KEY_CHARS = MAX_KEY_BYTES * 3 / 2;

    /** How the keys of elections begin. No lock by another name has such a key. */
    public static final String ELECTION_PREFIX = "leader:";

    /** The longest time that may be asked for. */
    public static final Duration MAX_DURATION = Duration.ofDays(365);

    /** The most permits that a request may ask for. */
    public static final int MAX_PERMITS = 10_000;

    /** The most keys that one call may lock. */
    public static final int MAX_KEYS = 1000;

    private static final Duration SHORTEST_TTL = Duration.ofMillis(1);

    private static final Pattern LOCK_ID = Pattern.compile("[A-Za-z0-9_-]{22}");

    private LockLimits() {}

    /**
     * The key in Unicode normal form C: 1 to {@value #MAX_KEY_BYTES} UTF-8 bytes without U+0000 and without unpaired
     * surrogates. It is neither trimmed nor case folded; a blank key is legal.
     *
     * @throws IllegalKeyException otherwise
     */
    public static String key(String key) {
        return keyText("key", key);
    }

    /**
     * The name of a resource whose fences are checked, in the same form and within the same limits as the key of a
     * request.
     */
    public static String resource(String resource) {
        return withoutIdentity("resource", keyText("resource", resource));
    }

    /**
     * The {@link #key key} of a request. It contains no text of an object without {@code toString()}, such as
     * {@code shop.Order@49cb5030}: that differs for each object, so the lock would exclude nobody.
     */
    static String requestedKey(String key) {
        return withoutIdentity("key", key(key));
    }

    /** The name of a request for a lock by name, in the same form and within the same limits as its key. */
    static String name(String name) {
        return keyText("name", name);
    }

    /** The label of a holder: as a key, but it may be empty. */
    public static String owner(String owner) {
        return textOrEmpty("label of the owner", owner);
    }

    /** A part of the label of an owner: not empty, because that is a part of each label. */
    static String partOfOwner(String part) {
        return text("part of an owner", part);
    }

    /** The requests of one call: 1 to {@value #MAX_KEYS}. Without one, the call would run without a lock. */
    public static List<LockRequest> requests(List<LockRequest> requests) {
        int number = requireNonNull("list of requests", requests).size();
        if (number < 1 || number > MAX_KEYS) {
            throw invalid("The number of requests is " + number + ", but has to be between 1 and " + MAX_KEYS);
        }
        requests.forEach(request -> requireNonNull("request", request));
        return List.copyOf(requests);
    }

    /** A ttl: a whole number of milliseconds from 1 ms to 365 days. */
    public static Duration ttl(Duration ttl) {
        return ttl("ttl", ttl);
    }

    /** The ttl of a lock that has to have a heartbeat: a whole number of milliseconds from 3 ms to 365 days. */
    public static Duration ttlWithHeartbeat(Duration ttl) {
        Duration shortest = SHORTEST_TTL.multipliedBy(3);
        if (requireNonNull("ttl", ttl).compareTo(shortest) < 0) {
            throw outside("ttl", ttl, "at least " + MessageText.of(shortest) + " for a heartbeat");
        }
        return ttl(ttl);
    }

    /** How many may hold a lock with permits at the same time: 1 to {@value #MAX_PERMITS}. */
    public static int permits(int permits) {
        if (permits < 1 || permits > MAX_PERMITS) {
            throw invalid("number of permits is " + permits + ", but has to be between 1 and " + MAX_PERMITS);
        }
        return permits;
    }

    /** @param what name of the ttl in the message, such as that of a property */
    public static Duration ttl(String what, Duration ttl) {
        between(SHORTEST_TTL, what, ttl);
        if (ttl.toNanosPart() % 1_000_000 != 0) {
            throw outside(what, ttl, "a whole number of milliseconds");
        }
        return ttl;
    }

    /**
     * How often a lease with this ttl is extended: every 1 ms to every third of the ttl, so that two more tries fit in.
     */
    public static Duration heartbeat(Duration interval, Duration ttl) {
        ttlWithHeartbeat(ttl);
        if (requireNonNull("heartbeat", interval).compareTo(SHORTEST_TTL) < 0) {
            throw outside("heartbeat", interval, "at least " + MessageText.of(SHORTEST_TTL));
        }
        Duration third = ttl.dividedBy(3);
        if (interval.compareTo(third) > 0) {
            throw outside(
                    "heartbeat",
                    interval,
                    "at most " + MessageText.of(third.truncatedTo(ChronoUnit.MILLIS)) + ", a third of the ttl ("
                            + MessageText.of(ttl) + ")");
        }
        return interval;
    }

    /** A time that may be zero, up to 365 days: the wait time, and the time to hold a lock at least. */
    public static Duration time(String what, Duration time) {
        return between(Duration.ZERO, what, time);
    }

    /**
     * Checks how long a lock is held at most: 1 ms to 365 days, and not shorter than it is held at least.
     *
     * @throws LockException with {@code INVALID_ARGUMENT} otherwise
     */
    static Duration holdAtMost(Duration atMost, Duration atLeast) {
        String what = "time to hold at most";
        between(SHORTEST_TTL, what, atMost);
        if (atMost.compareTo(atLeast) < 0) {
            throw outside(what, atMost, "at least " + MessageText.of(atLeast) + ", the time to hold at least");
        }
        return atMost;
    }

    /** A lock id: 22 characters of base64url and nothing else. The message never shows it. */
    public static String lockId(String lockId) {
        if (!LOCK_ID.matcher(requireNonNull("lock id", lockId)).matches()) {
            throw invalid(
                    "This is no lock id, but perhaps a key: it has " + lockId.length() + " characters, and a lock id"
                            + " has 22 of A-Z, a-z, 0-9, _ and -. LockHandle.lockId() returns it; for a key, use"
                            + " LockManager.isLocked, LockAdmin.holders or LockAdmin.forceRelease");
        }
        return lockId;
    }

    /**
     * Any value that must not be {@code null}. A caller without a null checker may pass one, most often a key that was
     * made from data.
     */
    public static <T> T requireNonNull(String what, @Nullable T value) {
        if (value == null) {
            throw invalid("A " + what + " must not be null");
        }
        return value;
    }

    /** A text with the limits of a key, except that it may be empty. */
    static String textOrEmpty(String what, String text) {
        return requireNonNull(what, text).isEmpty() ? text : text(what, text);
    }

    private static String keyText(String what, String text) {
        try {
            return text(what, text);
        } catch (LockException ex) {
            throw new IllegalKeyException(String.valueOf(ex.getMessage()));
        }
    }

    private static String text(String what, String text) {
        if (requireNonNull(what, text).length() > MAX_KEY_CHARS) {
            throw tooLong(what, text.length() + " characters");
        }
        boolean ascii = isPrintableAscii(text);
        String normalized = ascii ? text : normalize(what, text);
        int bytes = ascii ? text.length() : normalized.getBytes(StandardCharsets.UTF_8).length;
        if (bytes == 0) {
            throw invalid("A " + what + " must not be empty");
        }
        if (bytes > MAX_KEY_BYTES) {
            throw tooLong(what, String.valueOf(bytes));
        }
        return normalized;
    }

    private static LockException tooLong(String what, String length) {
        return invalid("A " + what + " has at most " + MAX_KEY_BYTES + " UTF-8 bytes, this one has " + length
                + ": use a shorter name or a hash of it");
    }

    private static String withoutIdentity(String what, String text) {
        String identity = IdentityText.in(text);
        if (identity != null) {
            throw invalid("A " + what + " must not contain '" + identity + "', which is the text of an object without"
                    + " toString() and differs for each object. Use a property of it, such as its id");
        }
        return text;
    }

    private static Duration between(Duration shortest, String what, Duration duration) {
        if (requireNonNull(what, duration).compareTo(shortest) < 0 || duration.compareTo(MAX_DURATION) > 0) {
            throw outside(
                    what, duration, "between " + MessageText.of(shortest) + " and " + MessageText.of(MAX_DURATION));
        }
        return duration;
    }

    private static LockException outside(String what, Duration duration, String limits) {
        return invalid(what + " is " + MessageText.of(duration) + ", but has to be " + limits);
    }

    private static boolean isPrintableAscii(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) < ' ' || text.charAt(i) > '~') {
                return false;
            }
        }
        return true;
    }

    private static String normalize(String what, String text) {
        for (int i = 0; i < text.length(); i++) {
            int codePoint = text.codePointAt(i);
            if (codePoint == 0) {
                throw invalid("A " + what + " must not contain U+0000, this one has it at index " + i);
            }
            if (Character.getType(codePoint) == Character.SURROGATE) {
                throw invalid(
                        "A " + what + " must be well-formed Unicode, this one has an unpaired surrogate at index " + i);
            }
            if (Character.isSupplementaryCodePoint(codePoint)) {
                i++;
            }
        }
        return Normalizer.normalize(text, Normalizer.Form.NFC);
    }

    private static LockException invalid(String message) {
        return new LockException(LockErrorCode.INVALID_ARGUMENT, message);
    }
}
