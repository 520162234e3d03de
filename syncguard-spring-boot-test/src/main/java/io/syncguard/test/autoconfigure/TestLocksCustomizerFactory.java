package io.syncguard.test.autoconfigure;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.test.context.ContextConfigurationAttributes;
import org.springframework.test.context.ContextCustomizer;
import org.springframework.test.context.ContextCustomizerFactory;
import org.springframework.test.context.MergedContextConfiguration;
import org.springframework.test.context.TestContextAnnotationUtils;

/**
 * Sets {@code syncguard.enabled} to the value in {@link AutoConfigureTestLocks}. {@code @PropertyMapping} cannot do
 * this, because its package differs between the generations of Spring Boot, and one of them would ignore it silently.
 */
final class TestLocksCustomizerFactory implements ContextCustomizerFactory {

    @Override
    public @Nullable ContextCustomizer createContextCustomizer(
            Class<?> testClass, List<ContextConfigurationAttributes> configuration) {
        AutoConfigureTestLocks locks =
                TestContextAnnotationUtils.findMergedAnnotation(testClass, AutoConfigureTestLocks.class);
        return locks == null ? null : new Customizer(locks.enabled());
    }

    /** A record, because equal customizers share an application context. */
    private record Customizer(boolean enabled) implements ContextCustomizer {

        @Override
        public void customizeContext(ConfigurableApplicationContext context, MergedContextConfiguration configuration) {
            TestPropertyValues.of("syncguard.enabled=" + enabled).applyTo(context);
        }
    }
}
