package io.syncguard.core;

import static io.syncguard.core.EngineFixture.eventually;

import io.syncguard.LockMode;
import io.syncguard.spi.AcquireRequest;
import org.junit.jupiter.api.BeforeEach;

/** A {@link ContractFixture} whose two processes record the wake-ups and hand-overs that they receive. */
public abstract class ListeningFixture extends ContractFixture {

    final RecordingWakeUpListener here = new RecordingWakeUpListener();
    final RecordingWakeUpListener there = new RecordingWakeUpListener();

    @BeforeEach
    void listen() {
        connect(backend(), here);
        connect(elsewhere(), there);
        awaitEverythingSentSoFar();
    }

    /**
     * Waits for one more wake-up of each process by the other. It arrives after all others, because wake-ups from other
     * processes arrive in the order of sending, and those of the process itself at once.
     */
    final void awaitEverythingSentSoFar() {
        awaitOneMore(backend(), elsewhere(), here);
        awaitOneMore(elsewhere(), backend(), there);
    }

    private void awaitOneMore(StoreCalls process, StoreCalls other, RecordingWakeUpListener listener) {
        AcquireRequest holder = request("one more", LockMode.EXCLUSIVE, TTL);
        AcquireRequest waiter = waiting(request("one more", LockMode.EXCLUSIVE, TTL));
        granted(process, holder);
        queued(process, waiter);
        eventually().until(process::isConnected);
        other.release(holder.keyedLockId());
        eventually().until(() -> listener.woken.remove(waiter.waiterNumber()));
        leave(waiter);
    }
}
