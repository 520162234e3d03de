package io.syncguard.sample;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.syncguard.LockInfo;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The leader of an election. The last three components are {@code null} without a leader.
 *
 * @param leading whether the instance that answers leads, as it can prove without asking the server
 * @param leader the label of the instance that leads, as the server knows it
 * @param fence the fence of the leader, which may also grow during its term
 * @param since when the leader was elected, on the clock of the server
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
record Leadership(
        String election,
        boolean leading,
        @Nullable String leader,
        @Nullable Long fence,
        @Nullable Instant since) {

    static Leadership of(String election, boolean leading, @Nullable LockInfo leader) {
        if (leader == null) {
            return new Leadership(election, leading, null, null, null);
        }
        return new Leadership(election, leading, leader.owner(), leader.fence().value(), leader.acquiredAt());
    }
}
