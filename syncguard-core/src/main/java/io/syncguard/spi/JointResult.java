package io.syncguard.spi;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The answer to the requests of {@link LockBackend#acquireTogether}.
 *
 * @param grants those of the first requests, in their order: all of them, unless one was refused
 * @param refusal the first request that cannot be granted; {@code null} if all can be
 */
public record JointResult(
        List<AcquireResult.Granted> grants, @Nullable Refusal refusal) {

    /** @param position that of the request in the list, from 0 */
    public record Refusal(int position, AcquireResult.Refused result) {}

    public JointResult {
        grants = List.copyOf(grants);
    }

    /** Nothing was granted, because of this request. */
    public static JointResult refused(int position, AcquireResult.Refused result) {
        return new JointResult(List.of(), new Refusal(position, result));
    }
}
