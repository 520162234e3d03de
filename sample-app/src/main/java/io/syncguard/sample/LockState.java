package io.syncguard.sample;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.syncguard.LockInfo;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What the server knows of a lock; only the first two are there when nobody holds it.
 *
 * @param expiresAt when it ends unless it is extended, on the clock of the server
 * @param owner the label of the instance that holds it
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
record LockState(
        String key,
        boolean held,
        @Nullable Long fence,
        @Nullable Instant acquiredAt,
        @Nullable Instant expiresAt,
        @Nullable String owner) {

    static LockState held(String key, LockInfo info) {
        return new LockState(key, true, info.fence().value(), info.acquiredAt(), info.expiresAt(), info.owner());
    }

    static LockState free(String key) {
        return new LockState(key, false, null, null, null, null);
    }
}
