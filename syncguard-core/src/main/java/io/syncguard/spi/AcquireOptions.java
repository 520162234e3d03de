package io.syncguard.spi;

import io.syncguard.LockMode;
import io.syncguard.LockRequest;
import io.syncguard.MessageText;
import io.syncguard.OneLine;
import java.time.Duration;

/**
 * What a caller asks of a lock beside its key.
 *
 * @param mode whether the lease may exist beside shared ones
 * @param permits how many shared leases the key may have with this one, from 1 to 10 000; 0 for no limit, as in every
 *     exclusive request
 * @param ttl how long the lease lives without an extension
 * @param owner the readable label of the caller
 * @param handOver whether a release may grant the key to the queue entry directly
 */
public record AcquireOptions(LockMode mode, int permits, Duration ttl, String owner, boolean handOver) {

    /**
     * What this request asks for, with this ttl and owner.
     *
     * @param handOver whether a release may grant the key directly, unless it is shared without permits: such readers
     *     are woken together
     */
    public static AcquireOptions of(LockRequest request, Duration ttl, String owner, boolean handOver) {
        boolean isOneOfMany = request.mode() == LockMode.SHARED && request.permits() == 0;
        return new AcquireOptions(request.mode(), request.permits(), ttl, owner, handOver && !isOneOfMany);
    }

    @Override
    public String toString() {
        return OneLine.of(mode + (permits == 0 ? "" : " with " + permits + " permits") + ", ttl " + MessageText.of(ttl)
                + ", owner " + owner);
    }
}
