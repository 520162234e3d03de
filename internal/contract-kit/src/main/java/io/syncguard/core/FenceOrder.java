package io.syncguard.core;

import io.syncguard.Fence;
import io.syncguard.spi.FenceSource;
import java.util.HashMap;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.assertj.core.api.Condition;

/**
 * Checks which fence of a key is the nth, for either source. From a counter, the nth fence is n. From the clock, it is
 * at least a hundred times the milliseconds of the clock at the start of the test, and larger than the fences before
 * it.
 */
public final class FenceOrder {

    private final FenceSource source;
    private final long began;
    private final Map<String, NavigableMap<Long, Long>> known = new HashMap<>();

    public FenceOrder(ContractStore store) {
        this.source = store.fences();
        this.began = store.clockMillis();
    }

    /** The fence that was drawn for the key after n - 1 others. */
    public Condition<Fence> nth(String key, long n) {
        return new Condition<>(fence -> isNth(key, n, fence.value()), "fence %s of %s by the %s", n, key, source);
    }

    private boolean isNth(String key, long n, long fence) {
        NavigableMap<Long, Long> fences = known.computeIfAbsent(key, any -> new TreeMap<>());
        Map.Entry<Long, Long> before = fences.lowerEntry(n);
        Map.Entry<Long, Long> after = fences.higherEntry(n);
        boolean isNth = (before == null || before.getValue() < fence)
                && (after == null || fence < after.getValue())
                && (source == FenceSource.COUNTER ? fence == n : fence >= began * 100)
                && fences.getOrDefault(n, fence) == fence;
        if (isNth) {
            fences.put(n, fence);
        }
        return isNth;
    }
}
