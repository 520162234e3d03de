package io.syncguard.sample;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.syncguard.LockInfo;
import io.syncguard.LockMode;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The state of a lock at the server. Without a holder, only the first two components are set. With several holders, it
 * shows the first one.
 *
 * @param holders the number of holders
 * @param expiresAt when the lease ends unless it is extended, on the clock of the server
 * @param owner the label of the instance that holds it
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
record LockState(
        String key,
        boolean held,
        @Nullable LockMode mode,
        @Nullable Integer holders,
        @Nullable Long fence,
        @Nullable Instant acquiredAt,
        @Nullable Instant expiresAt,
        @Nullable String owner) {

    static LockState of(String key, List<LockInfo> holders) {
        if (holders.isEmpty()) {
            return new LockState(key, false, null, null, null, null, null, null);
        }
        LockInfo info = holders.get(0);
        return new LockState(
                key,
                true,
                info.mode(),
                holders.size(),
                info.fence().value(),
                info.acquiredAt(),
                info.expiresAt(),
                info.owner());
    }
}
