package io.syncguard.autoconfigure;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.beans.factory.annotation.Qualifier;

/**
 * Marks the {@code LettuceConnectionFactory} of the locks, if it is not the application's primary one. Without
 * {@code syncguard.backend}, the mark also chooses Redis. Declare the bean with {@code defaultCandidate = false} so
 * that the auto-configured one remains.
 */
@Target({ElementType.FIELD, ElementType.METHOD, ElementType.PARAMETER, ElementType.TYPE, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Qualifier
public @interface SyncGuardRedisConnectionFactory {}
