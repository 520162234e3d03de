package io.syncguard.postgres;

import io.syncguard.core.ContractStoreProvider;
import io.syncguard.core.DirectHandOverContract;
import io.syncguard.core.FenceRotationContract;
import io.syncguard.core.ForcedReleaseContract;
import io.syncguard.core.LockBackendContract;
import io.syncguard.core.LockListContract;
import io.syncguard.core.LockSearchContract;
import io.syncguard.core.QueueContract;
import io.syncguard.core.QueueEntryContract;
import io.syncguard.core.SharedLockContract;
import io.syncguard.testing.HostileObjects;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;

/**
 * The tables are in a schema in which somebody else has created every function and operator that could replace one that
 * the library calls. The contracts follow, on this store: none of them is called. {@code HostileSchemaTests} tests all
 * that is no operation of a backend.
 */
final class PostgresHostileStore implements ContractStoreProvider, BeforeAllCallback, AfterAllCallback {

    private static final Namespace NAMESPACE = Namespace.create(PostgresHostileStore.class);

    private Hostile hostile;

    @Override
    public PostgresContractStore emptied() {
        return hostile.store().emptied();
    }

    /** Creates one store for all classes. */
    @Override
    public void beforeAll(ExtensionContext context) {
        hostile = context.getRoot()
                .getStore(NAMESPACE)
                .computeIfAbsent(Hostile.class, any -> Hostile.create(), Hostile.class);
    }

    @Override
    public void afterAll(ExtensionContext context) {
        hostile.objects().assertNotCalled();
    }

    private record Hostile(PostgresContractStore store, HostileObjects objects) implements AutoCloseable {

        static Hostile create() {
            PostgresContractStore store = new PostgresContractStore(PostgresBatching.ALWAYS);
            return new Hostile(
                    store,
                    HostileObjects.in(
                            store.url(), "public", List.of("pg_notify(", "starts_with(", "max(", "set_config(")));
        }

        @Override
        public void close() {
            store.close();
        }
    }
}

@ExtendWith(PostgresHostileStore.class)
@Tag("verification")
class PostgresHostileLockBackendTests extends LockBackendContract {}

@ExtendWith(PostgresHostileStore.class)
@Tag("verification")
class PostgresHostileQueueTests extends QueueContract {}

@ExtendWith(PostgresHostileStore.class)
@Tag("verification")
class PostgresHostileQueueEntryTests extends QueueEntryContract {}

@ExtendWith(PostgresHostileStore.class)
@Tag("verification")
class PostgresHostileDirectHandOverTests extends DirectHandOverContract {}

@ExtendWith(PostgresHostileStore.class)
@Tag("verification")
class PostgresHostileFenceRotationTests extends FenceRotationContract {}

@ExtendWith(PostgresHostileStore.class)
@Tag("verification")
class PostgresHostileForcedReleaseTests extends ForcedReleaseContract {}

@ExtendWith(PostgresHostileStore.class)
@Tag("verification")
class PostgresHostileLockListTests extends LockListContract {}

@ExtendWith(PostgresHostileStore.class)
@Tag("verification")
class PostgresHostileLockSearchTests extends LockSearchContract {}

@ExtendWith(PostgresHostileStore.class)
@Tag("verification")
class PostgresHostileSharedLockTests extends SharedLockContract {}
