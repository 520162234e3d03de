package io.syncguard.autoconfigure;

import io.syncguard.aop.UnitlessTime;
import java.time.Duration;
import org.springframework.boot.context.properties.bind.BindContext;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.core.env.Environment;

/**
 * Reads the times in {@code syncguard.*} as they are written, and warns of those without a unit: the bound
 * {@link Duration} does not say whether it had one.
 */
final class WrittenTimes implements BindHandler {

    private final Environment environment;

    private WrittenTimes(Environment environment) {
        this.environment = environment;
    }

    static void check(Environment environment) {
        Binder binder = Binder.get(environment, new WrittenTimes(environment));
        binder.bind("syncguard", SyncGuardProperties.class);
        binder.bind("syncguard", LocksProperties.class);
    }

    @Override
    public Object onSuccess(ConfigurationPropertyName name, Bindable<?> target, BindContext context, Object result) {
        ConfigurationProperty written = context.getConfigurationProperty();
        if (result instanceof Duration && written != null) {
            UnitlessTime.warnOf(name.toString(), environment.resolvePlaceholders(String.valueOf(written.getValue())));
        }
        return result;
    }
}
