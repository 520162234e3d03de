package io.syncguard.sample;

import org.springframework.core.env.Environment;
import org.springframework.stereotype.Component;

/**
 * Describes the {@link Instance} that runs this code.
 */
@Component
final class RunningInstance {

    private final Environment environment;

    RunningInstance(Environment environment) {
        this.environment = environment;
    }

    /** Fails before the web server has its port. */
    Instance describe() {
        return new Instance(
                ProcessHandle.current().pid(), environment.getRequiredProperty("local.server.port", Integer.class));
    }
}
