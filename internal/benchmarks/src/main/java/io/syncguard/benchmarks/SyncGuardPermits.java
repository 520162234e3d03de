package io.syncguard.benchmarks;

import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import java.time.Duration;
import org.springframework.context.ConfigurableApplicationContext;

/** Requests with permits through the template, with all properties at their defaults. */
final class SyncGuardPermits implements PermitContender {

    private static final Duration LONG = Duration.ofMinutes(1);

    private final ConfigurableApplicationContext application;
    private final LockTemplate locks;

    SyncGuardPermits(ConfigurableApplicationContext application) {
        this.application = application;
        this.locks = application.getBean(LockTemplate.class);
    }

    @Override
    public boolean attempt(String key, Runnable body) {
        return locks.tryExecuteWithoutResult(LockRequest.of(key).permits(PERMITS), lock -> body.run());
    }

    @Override
    public void await(String key, Runnable body) {
        locks.executeWithoutResult(LockRequest.of(key).permits(PERMITS).waitTime(LONG), lock -> body.run());
    }

    @Override
    public void await(String key, Duration ttl, Runnable body) {
        locks.executeWithoutResult(
                LockRequest.of(key).permits(PERMITS).waitTime(LONG).ttl(ttl), lock -> body.run());
    }

    @Override
    public void close() {
        application.close();
    }
}
