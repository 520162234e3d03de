package io.syncguard.core;

import static io.syncguard.core.EngineFixture.got;
import static io.syncguard.core.EngineFixture.inAnotherThread;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A handle stays in its store when another manager becomes current. */
@Timeout(60)
class RoutedHandleTests {

    private static final LockRequest ORDER = LockRequest.of("order:42");

    @RegisterExtension
    private final EngineFixture north = new EngineFixture();

    @RegisterExtension
    private final EngineFixture south = new EngineFixture();

    private volatile LockManager current = north.engine;
    private final LockManager routing = LockManager.routing(() -> current);

    @Test
    void it_is_extended_and_released_there() {
        LockHandle lock = routing.acquire(ORDER);
        current = south.engine;

        assertThat(lock.extend(Duration.ofMinutes(1))).isTrue();
        assertThat(lock.release()).isTrue();

        assertThat(north.engine.isLocked("order:42")).isFalse();
        assertThat(south.store.fence("order:42")).isZero();
    }

    @Test
    void a_body_that_changes_the_manager_ends_the_lock_of_its_own_store() {
        String state = new LockTemplate(routing).execute(ORDER, lock -> {
            current = south.engine;
            return north.engine.isLocked("order:42") + " " + routing.isLocked("order:42");
        });

        assertThat(state).isEqualTo("true false");
        assertThat(north.engine.isLocked("order:42")).isFalse();
    }

    @Test
    void a_bound_task_joins_it_in_its_own_store_alone() throws Exception {
        LockHandle lock = routing.acquire(ORDER);
        String inNorth =
                got(inAnotherThread(lock.bind(() -> routing.tryAcquire(ORDER).lockId())));
        current = south.engine;
        String inSouth =
                got(inAnotherThread(lock.bind(() -> routing.tryAcquire(ORDER).lockId())));

        assertThat(inNorth).isEqualTo(lock.lockId());
        assertThat(inSouth).isNotEqualTo(lock.lockId());
        assertThat(south.engine.isLocked("order:42")).isTrue();
    }

    @Test
    void its_lock_id_means_nothing_to_another_store() {
        LockHandle lock = routing.acquire(ORDER);
        current = south.engine;

        assertThat(routing.owns(lock.lockId())).isFalse();
        assertThat(routing.release(lock.lockId())).isFalse();
        assertThat(routing.extend(lock.lockId(), Duration.ofMinutes(1))).isEmpty();
        assertThat(lock.isHeld()).isTrue();
        current = north.engine;
        assertThat(routing.release(lock.lockId())).isTrue();
    }
}
