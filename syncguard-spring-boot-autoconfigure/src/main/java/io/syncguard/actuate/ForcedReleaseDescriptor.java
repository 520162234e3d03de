package io.syncguard.actuate;

import io.syncguard.ForcedRelease;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * The result of a release by force.
 *
 * @param key the key, or its hash, as the request named it
 * @param released number of leases that it has ended
 * @param remaining number of leases that it could not end, because a transaction is committing under them
 * @param fence larger than the fences of the leases that have ended; {@code null} if there were none
 */
public record ForcedReleaseDescriptor(
        String key, int released, int remaining, @Nullable Long fence) implements OperationResponseBody {

    static ForcedReleaseDescriptor of(ForcedRelease done, String shown) {
        return new ForcedReleaseDescriptor(
                shown,
                done.released(),
                done.remaining(),
                done.fence() == null ? null : done.fence().value());
    }
}
