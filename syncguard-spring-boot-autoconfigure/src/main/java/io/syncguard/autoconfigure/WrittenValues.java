package io.syncguard.autoconfigure;

import io.syncguard.LockSetupException;
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
 * Refuses durations below a second without a unit in {@code syncguard.*}, and a blank {@link Integer}. Reads both as
 * written while they are bound: a bound {@link Duration} does not say whether it had a unit, and a blank limit would be
 * none.
 */
final class WrittenValues implements ConfigurationPropertiesBindHandlerAdvisor {

    private static final ConfigurationPropertyName PREFIX = ConfigurationPropertyName.of("syncguard");

    private final Environment environment;

    WrittenValues(Environment environment) {
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
                    UnitlessTime.refuse(
                            name.toString(), environment.resolvePlaceholders(String.valueOf(written.getValue())));
                }
                return super.onSuccess(name, target, context, result);
            }

            @Override
            public void onFinish(
                    ConfigurationPropertyName name, Bindable<?> target, BindContext context, @Nullable Object result)
                    throws Exception {
                ConfigurationProperty written = context.getConfigurationProperty();
                if (result == null
                        && written != null
                        && written.getName().equals(name)
                        && target.getType().resolve() == Integer.class
                        && PREFIX.isAncestorOf(name)) {
                    throw LockSetupException.invalid(
                            name + " is blank, but has to be a whole number", "Correct " + name + ", or leave it out");
                }
                super.onFinish(name, target, context, result);
            }
        };
    }
}
