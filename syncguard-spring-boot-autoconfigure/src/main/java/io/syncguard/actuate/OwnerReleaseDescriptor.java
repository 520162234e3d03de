package io.syncguard.actuate;

import io.syncguard.LockMode;
import io.syncguard.OwnedLease;
import java.time.Instant;
import java.util.List;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * The leases of an owner, and what a release by force did to each.
 *
 * @param owner the text that their labels contain
 * @param dryRun whether nothing was released
 * @param leases in the order of their keys
 * @param complete whether these are all leases of the owner; repeat the request otherwise
 */
public record OwnerReleaseDescriptor(String owner, boolean dryRun, List<Lease> leases, boolean complete)
        implements OperationResponseBody {

    /** What happened to a lease. */
    public enum Outcome {

        /** It is live: this was a dry run. */
        LISTED,

        /** It has ended. */
        RELEASED,

        /** It was over before. Its next holder keeps the key. */
        OVER,

        /** A transaction commits under it, so it remains. */
        REMAINS,

        /** The store has not answered, so it may have ended. Those behind it were not tried. */
        FAILED,

        /** It was not tried, because the store did not answer before. */
        NOT_TRIED
    }

    /**
     * A lease.
     *
     * @param key the key, or its hash
     * @param owner label of the process
     * @param since the time of the grant, on the server's clock
     */
    public record Lease(String key, LockMode mode, String owner, Instant since, long fence, Outcome outcome) {

        static Lease of(OwnedLease owned, KeyView view, Outcome outcome) {
            return new Lease(
                    view.show(owned.key()),
                    owned.lease().mode(),
                    owned.lease().owner(),
                    owned.lease().acquiredAt(),
                    owned.lease().fence().value(),
                    outcome);
        }
    }

    /** Whether a lease is live that should have ended. */
    boolean hasRest() {
        return leases.stream().anyMatch(lease -> switch (lease.outcome()) {
            case REMAINS, FAILED, NOT_TRIED -> true;
            case LISTED, RELEASED, OVER -> false;
        });
    }
}
