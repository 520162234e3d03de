package io.syncguard.actuate;

import io.syncguard.core.LocalLock;
import io.syncguard.core.LockEngine;
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

    /** @param permits how many permits the annotated methods of a name have */
    static OwnLocks of(Collection<LockEngine> managers, EventJournal journal, Map<String, Set<Integer>> permits) {
        Map<LockEngine, OfManager> byManager = managers.stream()
                .distinct()
                .collect(Collectors.toUnmodifiableMap(each -> each, each -> OfManager.of(each, journal, permits)));
        return new OwnLocks(
                byManager,
                journal.names(byManager.values().stream()
                        .flatMap(each -> each.all().stream())
                        .toList()));
    }

    /**
     * The locks of this process in one manager.
     *
     * @param first the locks that an answer shows
     */
    record OfManager(List<LocalLock> all, List<LocalLock> first, KnownNames names, OwnCallers callers) {

        static OfManager of(LockEngine manager, EventJournal journal, Map<String, Set<Integer>> permits) {
            List<LocalLock> locks = manager.diagnostics().locks();
            return new OfManager(
                    locks, OwnLockDescriptor.first(locks), journal.knownNames(locks, permits), new OwnCallers(locks));
        }
    }
}
