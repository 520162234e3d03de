package io.syncguard.check;

import io.syncguard.core.ContractStore;
import io.syncguard.core.ContractStoreProvider;
import io.syncguard.core.DirectHandOverContract;
import io.syncguard.core.FenceRotationContract;
import io.syncguard.core.ForcedReleaseContract;
import io.syncguard.core.LockBackendContract;
import io.syncguard.core.LockListContract;
import io.syncguard.core.LockSearchContract;
import io.syncguard.core.PermitContract;
import io.syncguard.core.QueueContract;
import io.syncguard.core.QueueEntryContract;
import io.syncguard.core.SeveralKeysContract;
import io.syncguard.core.SharedLockContract;
import io.syncguard.core.WokenWaitersContract;
import io.syncguard.leader.LeadershipContract;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

/** The contract of a store, on the area of this check. JUnit creates the classes, so the area is in a static field. */
@ExtendWith(Contracts.OfThisCheck.class)
final class Contracts {

    /** The tag of contracts that await wake-ups. */
    static final String WAKE_UPS = "wake-ups";

    private static volatile @Nullable ContractStore store;

    /** Sets the store for the next run. */
    static void runOn(ContractStore area) {
        store = area;
    }

    static final class OfThisCheck implements ContractStoreProvider {
        @Override
        public ContractStore emptied() {
            ContractStore of = store;
            if (of == null) {
                throw new IllegalStateException("No check runs");
            }
            return ((ContractStoreProvider) of).emptied();
        }
    }

    @Nested
    @DisplayName("grants, extensions and releases")
    class LockBackend extends LockBackendContract {}

    @Nested
    @Tag(WAKE_UPS)
    @DisplayName("the queue")
    class Queue extends QueueContract {}

    @Nested
    @DisplayName("entries of the queue")
    class QueueEntry extends QueueEntryContract {}

    @Nested
    @Tag(WAKE_UPS)
    @DisplayName("woken waiters")
    class WokenWaiters extends WokenWaitersContract {}

    @Nested
    @Tag(WAKE_UPS)
    @DisplayName("hand-overs")
    class DirectHandOver extends DirectHandOverContract {}

    @Nested
    @DisplayName("shared locks")
    class SharedLock extends SharedLockContract {}

    @Nested
    @Tag(WAKE_UPS)
    @DisplayName("permits")
    class Permit extends PermitContract {}

    @Nested
    @DisplayName("several keys")
    class SeveralKeys extends SeveralKeysContract {}

    @Nested
    @DisplayName("new fences for a lease")
    class FenceRotation extends FenceRotationContract {}

    @Nested
    @DisplayName("forced releases")
    class ForcedRelease extends ForcedReleaseContract {}

    @Nested
    @DisplayName("the list of locks")
    class LockList extends LockListContract {}

    @Nested
    @DisplayName("the search for locks")
    class LockSearch extends LockSearchContract {}

    @Nested
    @Tag(WAKE_UPS)
    @DisplayName("leadership")
    class Leadership extends LeadershipContract {}
}
