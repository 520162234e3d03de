package io.syncguard;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A page of the keys that are locked or waited for. Immutable. The keys are as they are: do not show them to everybody.
 *
 * @param locks in the order of the query
 * @param next what to continue {@link LockQuery#after after}; {@code null} if this is the last page. It contains a key
 */
public record LockPage(List<LockStatus> locks, @Nullable String next) {

    public LockPage {
        locks = List.copyOf(locks);
    }
}
