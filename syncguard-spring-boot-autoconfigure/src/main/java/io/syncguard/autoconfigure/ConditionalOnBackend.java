package io.syncguard.autoconfigure;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.context.annotation.Conditional;

/**
 * Matches if {@code syncguard.backend} names this backend, alone or with another.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Conditional(OnBackendCondition.class)
@interface ConditionalOnBackend {

    Backend value();

    /** Whether it also matches if the property is not set. */
    boolean matchIfMissing() default false;
}
