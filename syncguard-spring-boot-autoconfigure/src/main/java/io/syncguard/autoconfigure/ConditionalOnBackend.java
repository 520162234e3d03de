package io.syncguard.autoconfigure;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.context.annotation.Conditional;

/**
 * Matches if {@code syncguard.backend} names this store, alone or with another, and the application has no
 * {@code LockBackend} bean except that of the other.
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Conditional(OnBackendCondition.class)
public @interface ConditionalOnBackend {

    /** The name of the store in the property. */
    String value();

    /** Whether it also matches if the property is not set, and the application has no {@code LockBackend} bean. */
    boolean matchIfMissing() default false;
}
