package io.syncguard.actuate;

import io.syncguard.core.LocalLock;
import io.syncguard.core.LockEngine;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What this process holds and waits for. Immutable.
 *
 * @param names the counts of its locks, by their names
 */
record OwnLocks(Map<LockEngine, OfManager> byManager, Map<String, NameDescriptor> names) {

    /**
     * Those of one manager.
     *
     * @param first those that an answer shows
     */
    record OfManager(List<LocalLock> first, KnownNames names, OwnCallers callers) {}

    /** @param permits how many permits the annotated methods of a name have */
    static OwnLocks of(Collection<LockEngine> managers, EventJournal journal, Map<String, Set<Integer>> permits) {
        List<LocalLock> all = new ArrayList<>();
        Map<LockEngine, OfManager> byManager = managers.stream()
                .collect(Collectors.toUnmodifiableMap(each -> each, each -> {
                    List<LocalLock> locks = each.diagnostics().locks();
                    all.addAll(locks);
                    return new OfManager(
                            OwnLockDescriptor.first(locks), journal.knownNames(locks, permits), new OwnCallers(locks));
                }));
        return new OwnLocks(byManager, journal.names(all));
    }
}
