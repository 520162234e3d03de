package io.syncguard.benchmarks;

import io.syncguard.LockNotAcquiredException;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import java.time.Duration;
import org.springframework.context.ConfigurableApplicationContext;

/** SyncGuard as an application uses it: the template, with all properties at their defaults. */
final class SyncGuard implements PatientContender {

    private static final Duration LONG = Duration.ofMinutes(1);

    private final ConfigurableApplicationContext application;
    private final LockTemplate locks;

    SyncGuard(ConfigurableApplicationContext application) {
        this.application = application;
        this.locks = application.getBean(LockTemplate.class);
    }

    @Override
    public boolean attempt(String key, Runnable body) {
        return locks.tryExecuteWithoutResult(key, lock -> body.run());
    }

    @Override
    public void await(String key, Runnable body) {
        locks.execute(LockRequest.of(key).waitTime(LONG), lock -> run(body));
    }

    @Override
    public boolean await(String key, Duration waitTime, Runnable body) {
        try {
            locks.executeWithoutResult(LockRequest.of(key).waitTime(waitTime), lock -> body.run());
            return true;
        } catch (LockNotAcquiredException ex) {
            return false;
        }
    }

    /** Acquires a shared lock, which the caller closes. Its lease is long enough to need no heartbeat before that. */
    AutoCloseable share(String key) {
        return locks.manager().acquire(LockRequest.of(key).shared().ttl(Duration.ofHours(1)));
    }

    @Override
    public void close() {
        application.close();
    }

    private static boolean run(Runnable body) {
        body.run();
        return true;
    }
}
