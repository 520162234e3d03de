package io.syncguard.actuate;

import io.syncguard.ForcedRelease;
import io.syncguard.LockInfo;
import io.syncguard.LockMode;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * The result of a release by force.
 *
 * @param key the key, or its hash, as the request named it
 * @param released the leases that it has ended
 * @param remaining the leases that it left: those under which a transaction commits, and beside a named grant all
 *     others
 * @param fence larger than the fences of the leases that have ended; {@code null} if there were none
 * @param lock who holds the key and who waits for it afterwards; {@code null} if nobody does, or if the store did not
 *     answer
 */
public record ForcedReleaseDescriptor(
        String key,
        List<Grant> released,
        List<Grant> remaining,
        @Nullable Long fence,
        @Nullable LockDescriptor lock) implements OperationResponseBody {

    /**
     * A lease.
     *
     * @param owner label of the process
     * @param since the time of the grant, on the server's clock
     */
    public record Grant(LockMode mode, String owner, Instant since, long fence) {

        private static List<Grant> of(List<LockInfo> leases) {
            return leases.stream()
                    .map(lease -> new Grant(
                            lease.mode(),
                            lease.owner(),
                            lease.acquiredAt(),
                            lease.fence().value()))
                    .toList();
        }
    }

    static ForcedReleaseDescriptor of(ForcedRelease done, String shown, @Nullable LockDescriptor lock) {
        return new ForcedReleaseDescriptor(
                shown,
                Grant.of(done.released()),
                Grant.of(done.remaining()),
                done.fence() == null ? null : done.fence().value(),
                lock);
    }
}
