package io.syncguard.verification.recording;

import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ReleaseResult.HandOver;
import io.syncguard.spi.WakeUpListener;
import io.syncguard.verification.history.HistoryEvent;
import io.syncguard.verification.history.HistoryEvent.Kind;
import io.syncguard.verification.history.HistoryEvent.Lease;
import io.syncguard.verification.history.HistoryEvent.Outcome;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Records hand-overs with the acquire requests that they answer. The threads that send requests remember them here, and
 * the thread that receives a hand-over records it.
 */
final class HandOverRecorder {

    /** The number of acquire requests to remember. */
    private static final int REQUESTS = 10_000;

    private final HistoryRecorder recorder;

    /** The latest acquire requests by waiter number. */
    private final Map<Long, Asked> acquires = Collections.synchronizedMap(new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, Asked> eldest) {
            return size() > REQUESTS;
        }
    });

    private record Asked(HistoryEvent event, boolean mayBeHanded) {}

    HandOverRecorder(HistoryRecorder recorder) {
        this.recorder = recorder;
    }

    void remember(long waiter, HistoryEvent acquire, boolean mayBeHanded) {
        acquires.put(waiter, new Asked(acquire, mayBeHanded));
    }

    /** Records the hand-overs in the answer to a release, before the engine receives them. */
    void record(List<HandOver> handOvers, Duration firstLease) {
        handOvers.forEach(
                handOver -> recorder.write(handedOver(handOver.waiterNumber(), handOver.grant(), firstLease)));
    }

    /** Returns a listener that records each hand-over before the engine receives it. */
    WakeUpListener recorded(WakeUpListener engine, Duration firstLease) {
        return new WakeUpListener() {
            @Override
            public void wake(long waiter) {
                engine.wake(waiter);
            }

            @Override
            public void handOver(long waiter, AcquireResult.Granted grant) {
                recorder.write(handedOver(waiter, grant, firstLease));
                engine.handOver(waiter, grant);
            }

            @Override
            public void wakeUpsMissed() {
                engine.wakeUpsMissed();
            }
        };
    }

    private HistoryEvent handedOver(long waiter, AcquireResult.Granted grant, Duration firstLease) {
        Asked asked = acquires.get(waiter);
        String client = Thread.currentThread().getName();
        HistoryEvent message = asked == null
                ? recorder.begin(Kind.HANDED_OVER, client, "", "of an unknown waiter")
                : recorder.begin(Kind.HANDED_OVER, client, asked.event.key(), asked.event.lock());
        Lease lease = new Lease(
                grant.fence().value(),
                firstLease.toMillis(),
                grant.acquiredAt().toEpochMilli(),
                grant.expiresAt().toEpochMilli(),
                false);
        return message.answered(message.start(), asked == null || asked.mayBeHanded ? Outcome.OK : Outcome.REFUSED)
                .with(asked == null ? lease : lease.as(asked.event.lease()))
                .with(asked == null ? 0 : asked.event.source().number());
    }
}
