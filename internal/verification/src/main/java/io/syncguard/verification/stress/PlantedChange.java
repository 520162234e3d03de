package io.syncguard.verification.stress;

import io.syncguard.autoconfigure.ApplicationBackend;
import io.syncguard.postgres.PostgresSettings;
import io.syncguard.spi.LockBackend;
import io.syncguard.verification.bugs.Bug;
import java.time.Duration;
import java.util.function.UnaryOperator;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.env.Environment;

/** Gives a worker its planted bug, its waiter ttl and its batching. */
public final class PlantedChange implements WorkerChange {

    /** The default of the library. */
    private static final int POOL_SIZE = 8;

    @Override
    public void apply(
            GenericApplicationContext application,
            String url,
            Duration waiterTtl,
            UnaryOperator<LockBackend> recorder) {
        Environment environment = application.getEnvironment();
        String batching = environment.getProperty(ApplicationBackend.BATCHING, "auto");
        if (!waiterTtl.equals(PostgresSettings.WAITER_TTL)
                || !batching.equalsIgnoreCase("auto")
                || url.startsWith("jdbc:mariadb:")) {
            // No properties exist for the waiter ttl, for batches of one request, and for this store.
            application.registerBean(
                    LockBackend.class,
                    () -> ApplicationBackend.on(
                            url, POOL_SIZE, StressWorker.NETWORK_TIMEOUT, waiterTtl, environment::getProperty));
        }
        application
                .getBeanFactory()
                .addBeanPostProcessor(Bug.of(environment).around(recorder, application.getBeanFactory()));
    }
}
