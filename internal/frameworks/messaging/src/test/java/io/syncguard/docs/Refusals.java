package io.syncguard.docs;

import static org.awaitility.Awaitility.await;

import io.syncguard.LockEvent;
import io.syncguard.LockListener;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** How many calls of an instance were refused a lock. */
final class Refusals implements LockListener {

    /** Two show a pause. Spring Kafka and Artemis give up after ten, so long tests wait for more. */
    private static final int MANY = Boolean.getBoolean("syncguard.verification") ? 12 : 2;

    private static final Duration PAUSE = Duration.ofSeconds(1);

    private final Map<String, Integer> byKey = new ConcurrentHashMap<>();

    @Override
    public void refused(LockEvent event) {
        byKey.merge(event.key(), 1, Integer::sum);
    }

    /** Waits until calls were refused the lock many times, with pauses of a second. */
    void awaitMany(String key) {
        await().atMost(PAUSE.multipliedBy(20)).until(() -> of(key) > 0);
        await().during(PAUSE.dividedBy(2)).until(() -> of(key) == 1);
        await().atMost(PAUSE.multipliedBy(20)).until(() -> of(key) >= MANY);
    }

    int of(String key) {
        return byKey.getOrDefault(key, 0);
    }
}
