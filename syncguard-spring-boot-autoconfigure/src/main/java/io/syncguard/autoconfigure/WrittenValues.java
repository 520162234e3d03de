package io.syncguard.autoconfigure;

import io.syncguard.aop.UnitlessTime;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationPropertiesBindHandlerAdvisor;
import org.springframework.boot.context.properties.bind.AbstractBindHandler;
import org.springframework.boot.context.properties.bind.BindContext;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.core.env.Environment;

/**
 * Warns of durations without a unit in {@code syncguard.*}. Reads them as written while they are bound, because the
 * bound {@link Duration} does not say whether it had a unit.
 */
final class WrittenTimes implements ConfigurationPropertiesBindHandlerAdvisor {

    private static final ConfigurationPropertyName PREFIX = ConfigurationPropertyName.of("syncguard");

    private final Environment environment;

    WrittenTimes(Environment environment) {
        this.environment = environment;
    }

    @Override
    public BindHandler apply(BindHandler next) {
        return new AbstractBindHandler(next) {
            @Override
            public @Nullable Object onSuccess(
                    ConfigurationPropertyName name, Bindable<?> target, BindContext context, Object result) {
                ConfigurationProperty written = context.getConfigurationProperty();
                if (result instanceof Duration && written != null && PREFIX.isAncestorOf(name)) {
                    UnitlessTime.warnOf(
                            name.toString(), environment.resolvePlaceholders(String.valueOf(written.getValue())));
                }
                return super.onSuccess(name, target, context, result);
            }
        };
    }
}
