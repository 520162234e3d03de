package io.syncguard.core;

import io.syncguard.Fence;
import java.time.Instant;
import java.util.stream.Stream;

/**
 * Whom a backend tells what happens to the callers of this process who wait. Returns at once.
 */
public interface WakeUps {

    /** The caller of this number may be able to go on. A number that nobody has any more does no harm. */
    void wake(long waiter);

    /**
     * A release has granted the key to the caller of this number. A number that nobody has any more does no harm: its caller has
     * given up the place, and the grant with it, or finds the grant by its next claim.
     */
    void handOver(long waiter, Attempt.Grant grant);

    /**
     * What releases send: the number of a waiter, and the fence, the beginning and the end of a lease if it is handed the key;
     * the times are milliseconds since 1970, and blanks stand in between.
     */
    default void hear(String message) {
        long[] words = Stream.of(message.split(" ")).mapToLong(Long::parseLong).toArray();
        if (words.length == 1) {
            wake(words[0]);
        } else {
            Instant acquiredAt = Instant.ofEpochMilli(words[2]);
            Instant expiresAt = Instant.ofEpochMilli(words[3]);
            handOver(words[0], new Attempt.Grant(new Fence(words[1]), acquiredAt, expiresAt));
        }
    }

    /** Wake-ups may have been lost: everybody who waits has to be looked at. */
    void lookAtAll();
}
