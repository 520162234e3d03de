package io.syncguard.verification.stress;

import io.syncguard.batching.BatchingBackend;
import io.syncguard.concurrent.Time;
import io.syncguard.spi.LockBackend;
import java.time.Duration;
import java.util.ServiceLoader;
import java.util.function.UnaryOperator;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.context.support.GenericApplicationContext;

/** Puts the recorder into the application of a worker. A module with other stores or bugs provides its own. */
public interface WorkerChange {

    /** The application with the recorder and nothing else. */
    WorkerChange NONE = (application, url, waiterTtl, recorder) -> application
            .getBeanFactory()
            .addBeanPostProcessor(new BeanPostProcessor() {
                @Override
                public Object postProcessAfterInitialization(Object bean, String name) {
                    // Callers share lists only beneath the recorder, which sees the requests of each caller.
                    return bean instanceof LockBackend store
                            ? recorder.apply(BatchingBackend.of(store, Time.SYSTEM))
                            : bean;
                }
            });

    /** The change that is on the class path, or {@link #NONE}. */
    static WorkerChange find() {
        return ServiceLoader.load(WorkerChange.class).findFirst().orElse(NONE);
    }

    /**
     * Changes an application before it starts.
     *
     * @param url the URL of the locks
     * @param waiterTtl how long its queue entries live
     * @param recorder wraps its backend
     */
    void apply(
            GenericApplicationContext application, String url, Duration waiterTtl, UnaryOperator<LockBackend> recorder);
}
