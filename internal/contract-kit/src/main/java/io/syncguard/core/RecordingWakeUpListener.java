package io.syncguard.core;

import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.WakeUpListener;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/** Records the wake-ups and hand-overs of each waiter, by its number. */
final class RecordingWakeUpListener implements WakeUpListener {

    final List<Long> woken = new CopyOnWriteArrayList<>();

    /** The waiters that were handed the key, in order. */
    final List<Long> order = new CopyOnWriteArrayList<>();

    final Map<Long, AcquireResult.Granted> grants = new ConcurrentHashMap<>();

    @Override
    public void wake(long waiter) {
        woken.add(waiter);
    }

    @Override
    public void handOver(long waiter, AcquireResult.Granted grant) {
        order.add(waiter);
        grants.put(waiter, grant);
    }

    @Override
    public void wakeUpsMissed() {}
}
