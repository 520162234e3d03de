package io.syncguard.spi;

import io.syncguard.Fence;
import io.syncguard.concurrent.Time;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Base64;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Reads the messages that a store sends to the channel of this process, and makes the secrets that authenticate
 * hand-overs. Thread-safe.
 *
 * <p>A wake-up is the number of a waiter. A hand-over is the number, the waiter's secret, the fence, and the beginning
 * and the end of the lease, separated by single blanks; the times are milliseconds since 1970.
 *
 * <p>Other clients may be able to send to the channel. A false wake-up costs one acquire request. A false hand-over
 * would make a waiter act as the holder. So each queue entry has a secret, which the store sends only with the
 * hand-over.
 */
public final class WakeUpMessages {

    private static final Log log = LogFactory.getLog(WakeUpMessages.class);

    private static final Base64.Encoder BASE64 = Base64.getUrlEncoder().withoutPadding();

    private static final int HAND_OVER_WORDS = 5;

    private static final int KEY_BYTES = 32;

    private static final int SECRET_BYTES = 16;

    private static final long WARNING_PAUSE_NANOS = Duration.ofMinutes(1).toNanos();

    private final WakeUpListener wakeUps;
    private final Time time;
    private final byte[] key = new byte[KEY_BYTES];
    private final AtomicLong nextWarning = new AtomicLong();

    /** @param wakeUps is called for each valid message */
    public WakeUpMessages(WakeUpListener wakeUps, Time time) {
        this.wakeUps = wakeUps;
        this.time = time;
        new SecureRandom().nextBytes(key);
    }

    /**
     * The secret of a waiter, 22 characters of base64url, which the store has beside the waiter's number. It is the
     * number's MAC under a key that only this object has, so no other client can compute it, and this process need not
     * store it.
     *
     * <p>Half a SHA-256 of the key and the number is a MAC, because both have a fixed length. An HMAC would cost more
     * than twice as much, and each request of a waiter needs a secret.
     */
    public String secretOf(long waiter) {
        byte[] keyAndWaiter = ByteBuffer.allocate(KEY_BYTES + Long.BYTES)
                .put(key)
                .putLong(waiter)
                .array();
        return BASE64.encodeToString(Arrays.copyOf(Hashes.sha256(keyAndWaiter), SECRET_BYTES));
    }

    /** Calls the listener. A message that no release can have sent is ignored, with a warning. */
    public void receive(String message) {
        String[] words = message.split(" ", HAND_OVER_WORDS);
        boolean isHandOver = words.length == HAND_OVER_WORDS;
        if (!isNumber(words[0], 18) || words.length > 1 && !isHandOver) {
            warn();
            return;
        }
        long waiter = Long.parseLong(words[0]);
        if (!isHandOver) {
            wakeUps.wake(waiter);
        } else if (isSecretOf(waiter, words[1])
                && isNumber(words[2], 15)
                && isNumber(words[3], 18)
                && isNumber(words[4], 18)) {
            wakeUps.handOver(waiter, grant(words));
        } else {
            warn();
        }
    }

    /** A regular expression took a quarter of the time of the thread that all hand-overs pass. */
    private static boolean isNumber(String word, int maxDigits) {
        return !word.isEmpty()
                && word.length() <= maxDigits
                && word.chars().allMatch(digit -> digit >= '0' && digit <= '9');
    }

    /** Compares in constant time, so that a sender cannot find the secret character by character. */
    private boolean isSecretOf(long waiter, String secret) {
        return MessageDigest.isEqual(
                secretOf(waiter).getBytes(StandardCharsets.US_ASCII), secret.getBytes(StandardCharsets.US_ASCII));
    }

    private static AcquireResult.Granted grant(String[] words) {
        return new AcquireResult.Granted(
                new Fence(Long.parseLong(words[2])),
                Instant.ofEpochMilli(Long.parseLong(words[3])),
                Instant.ofEpochMilli(Long.parseLong(words[4])));
    }

    /** Does not log the text, which another client chose. At most once a minute: that client may send many. */
    private void warn() {
        long now = time.nanoTime();
        long next = nextWarning.get();
        if (now >= next && nextWarning.compareAndSet(next, now + WARNING_PAUSE_NANOS)) {
            log.warn("Ignored a message on the channel for wake-ups of this process that no release has sent");
        }
    }
}
