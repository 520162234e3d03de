package io.syncguard.verification.recording;

import io.syncguard.verification.history.HistoryEvent;
import io.syncguard.verification.history.HistoryEvent.Kind;
import io.syncguard.verification.history.HistoryEvent.Lease;
import io.syncguard.verification.history.HistoryEvent.Outcome;
import io.syncguard.verification.recording.StressStore.Live;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Records the end of a history: the counters and the live leases. */
public final class LastLook {

    private LastLook() {}

    public static void record(StressStore store, HistoryRecorder recorder) {
        HistoryEvent looked = lookup(recorder, "");
        Map<String, List<Live>> live = store.liveLeases().stream()
                .collect(Collectors.groupingBy(lease -> lease.lock().key()));
        long now = System.nanoTime();
        store.counters().forEach((key, fence) -> {
            recorder.write(recorder.begin(Kind.COUNTER, "end", key, "")
                    .answered(now, Outcome.OK)
                    .with(Lease.ofFence(fence)));
            if (!live.containsKey(key)) {
                recorder.write(at(looked, lookup(recorder, key)).answered(now, Outcome.NOT_HELD));
            }
        });
        live.forEach((key, leases) -> leases.forEach(lease -> recorder.write(at(looked, lookup(recorder, key))
                .answered(now, Outcome.OK)
                .ofLock(HistoryRecorder.hash(lease.lock().lockId()))
                .with(lease.lease()))));
    }

    private static HistoryEvent lookup(HistoryRecorder recorder, String key) {
        return recorder.begin(Kind.LOOKUP, "end", key, "");
    }

    /** Returns the event with the start of the single lookup of all keys. */
    private static HistoryEvent at(HistoryEvent looked, HistoryEvent lookup) {
        return HistoryEvent.of(Kind.LOOKUP, lookup.source(), lookup.key(), "", looked.start());
    }
}
