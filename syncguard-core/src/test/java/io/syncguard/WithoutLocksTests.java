package io.syncguard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class WithoutLocksTests {

    private final LockOperations locks = LockOperations.withoutLocks();
    private final LockManager manager = LockManager.withoutLocks();

    @Test
    void a_body_runs_and_its_result_is_returned() {
        List<String> ran = new ArrayList<>();
        locks.executeWithoutResult(LockRequest.of("order:42"), lock -> ran.add(lock.key()));

        assertThat(ran).containsExactly("order:42");
        assertThat(locks.<String, RuntimeException>execute("order:42", lock -> "done"))
                .isEqualTo("done");
        assertThat(locks.tryExecute("order:42", lock -> "done")).isEqualTo(new TryResult<>(true, "done"));
    }

    @Test
    void exceptions_arrive_unwrapped() {
        Exception failure = new Exception("failed");
        assertThatExceptionOfType(Exception.class)
                .isThrownBy(() -> locks.execute("order:42", lock -> {
                    throw failure;
                }))
                .isSameAs(failure);
    }

    @Test
    void the_handle_is_current_and_held_while_the_body_runs() {
        LockHandle lock = locks.execute("order:42", handle -> {
            assertThat(LockHandle.current("order:42")).containsSame(handle);
            assertThat(handle.isHeld()).isTrue();
            assertThat(handle.remaining()).isPositive();
            assertThat(handle.extend(Duration.ofSeconds(1))).isTrue();
            return handle;
        });

        assertThat(lock.state()).isEqualTo(LockHandle.State.RELEASED);
        assertThat(lock.remaining()).isZero();
        assertThat(lock.release()).isFalse();
        assertThat(LockHandle.current()).isEmpty();
    }

    @Test
    void fences_grow_with_each_call_and_rotation() {
        LockHandle first = manager.acquire(LockRequest.of("order:42"));
        LockHandle second = manager.tryAcquire(LockRequest.of("order:42"));

        assertThat(first.fence()).isEqualTo(new Fence(1));
        assertThat(second.fence()).isEqualTo(new Fence(2));
        assertThat(first.rotateFence()).isEqualTo(new Fence(3)).isEqualTo(first.fence());
    }

    @Test
    void nothing_is_locked() {
        LockHandle lock = manager.acquire(LockRequest.of("order:42"));

        assertThat(manager.isLocked("order:42")).isFalse();
        assertThat(manager.admin().status("order:42")).isEmpty();
        assertThat(manager.admin().list(LockQuery.all()).locks()).isEmpty();
        assertThat(manager.admin().summary().locked()).isZero();
        assertThat(manager.owns(LockLimits.lockId(lock.lockId()))).isFalse();
        assertThat(manager.admin().forceRelease("order:42").released()).isEmpty();
        assertThat(manager.release(lock.lockId())).isFalse();
        assertThat(manager.extend(lock.lockId(), Duration.ofSeconds(1))).isEmpty();
        assertThat(lock.isHeld()).isTrue();
    }

    @Test
    void impossible_values_are_refused_as_by_a_server() {
        assertThatExceptionOfType(LockException.class).isThrownBy(() -> locks.execute("", lock -> "done"));
        assertThatExceptionOfType(LockException.class)
                .isThrownBy(() -> manager.acquire(LockRequest.of("order:42")).extend(Duration.ZERO));
    }

    @Test
    void it_promises_no_fences() {
        assertThat(LockManager.withoutLocks().admin().backend())
                .isEqualTo(new BackendInfo("none", false, BackendInfo.Clock.PROCESS));
    }
}
