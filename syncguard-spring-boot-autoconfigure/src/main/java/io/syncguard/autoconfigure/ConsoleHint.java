package io.syncguard.autoconfigure;

import io.syncguard.actuate.SyncGuardConsoleEndpoint;
import java.util.Set;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;

/** Warns at the start of a half-configured console, which answers with 404. */
final class ConsoleHint implements SmartInitializingSingleton {

    private static final Log log = LogFactory.getLog(ConsoleHint.class);

    private static final String ENABLED = "syncguard.console.enabled";

    private static final String EXPOSURE = "management.endpoints.web.exposure.";

    private final ObjectProvider<SyncGuardConsoleEndpoint> console;
    private final Environment environment;
    private final EndpointId id;

    /** @param id the id of the console */
    ConsoleHint(ObjectProvider<SyncGuardConsoleEndpoint> console, Environment environment, EndpointId id) {
        this.console = console;
        this.environment = environment;
        this.id = id;
    }

    @Override
    public void afterSingletonsInstantiated() {
        if (console.getIfAvailable() != null) {
            return;
        }
        if (environment.getProperty(ENABLED, Boolean.class, false)) {
            log.warn(ENABLED + " is true, but the console is not there: it needs the endpoints 'syncguard' and '" + id
                    + "'. Set " + EXPOSURE + "include=health,syncguard," + id
                    + ", and look for one that is excluded or has access=none");
        } else if (!environment.containsProperty(ENABLED) && names("include") && !names("exclude")) {
            log.warn("The console is not there, although the endpoint '" + id + "' is exposed. Set " + ENABLED
                    + "=true, or remove it from " + EXPOSURE + "include");
        }
    }

    /** Whether the property names the console itself. "*" does not count, because it means all existing endpoints. */
    private boolean names(String property) {
        return Binder.get(environment).bind(EXPOSURE + property, Bindable.setOf(String.class)).orElse(Set.of()).stream()
                .anyMatch(name ->
                        !name.equals("*") && EndpointId.fromPropertyValue(name).equals(id));
    }
}
