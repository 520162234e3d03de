package io.syncguard.core;

import io.syncguard.LockNotAcquiredException;
import io.syncguard.spi.AcquireResult;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Why a request was not granted: another caller holds the key, or waits in front.
 *
 * @param holder who holds the key; {@code null} when others only wait for it
 */
record Contention(String key, AcquireResult.@Nullable Holder holder) {

    /** @param ownLock whether this engine holds the key */
    LockNotAcquiredException exception(Duration waited, boolean ownLock) {
        return new LockNotAcquiredException(
                key,
                owner(),
                holder == null ? null : holder.since(),
                waited,
                this + "; gave up after " + waited.toMillis() + " ms"
                        + (ownLock
                                ? ". This application itself holds it: in another thread, or with a handle that was not"
                                        + " closed. A nested call on another thread joins the lock if LockHandle.bind"
                                        + " runs it"
                                : ""));
    }

    /** The label of the holder; {@code null} if it has none, or if others only wait for the key. */
    @Nullable
    String owner() {
        return holder == null || holder.owner().isBlank() ? null : holder.owner();
    }

    /** For people. */
    @Override
    public String toString() {
        if (holder == null) {
            return "Others wait for lock '" + key + "' in front of this request";
        }
        return "Lock '" + key + "' is held"
                + (owner() == null ? "" : " by " + owner())
                + " since " + holder.since()
                + (holder.onlyHolder() ? "" : ", and by others")
                + (holder.lapsed()
                        ? ". The lease has lapsed, but a transaction that commits under it has not ended"
                        : "");
    }
}
