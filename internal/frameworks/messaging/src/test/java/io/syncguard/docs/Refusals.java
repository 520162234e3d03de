package io.syncguard.docs;

import io.syncguard.LockEvent;
import io.syncguard.LockListener;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** How many calls of an instance were refused a lock. */
final class Refusals implements LockListener {

    private final Map<String, Integer> byKey = new ConcurrentHashMap<>();

    @Override
    public void refused(LockEvent event) {
        byKey.merge(event.key(), 1, Integer::sum);
    }

    int of(String key) {
        return byKey.getOrDefault(key, 0);
    }
}
