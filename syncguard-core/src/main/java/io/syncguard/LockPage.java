package io.syncguard;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A page of the keys that are locked or waited for. Immutable. The keys are as they are: do not show them to everybody.
 *
 * @param locks in the order of their keys
 * @param next the key to continue {@link LockQuery#after after}; {@code null} if this is the last page
 */
public record LockPage(List<LockStatus> locks, @Nullable String next) {

    public LockPage {
        locks = List.copyOf(locks);
    }

    /**
     * Makes a page.
     *
     * @param found one more than the limit if there is another page
     */
    public static LockPage of(List<LockStatus> found, int limit) {
        return found.size() <= limit
                ? new LockPage(found, null)
                : new LockPage(found.subList(0, limit), found.get(limit - 1).key());
    }
}
