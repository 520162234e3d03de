package io.syncguard.testing;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/** Explores {@link Interleavings} for longer than a build may take. */
@Target({ElementType.METHOD, ElementType.TYPE})
@Retention(RetentionPolicy.RUNTIME)
@EnabledIfSystemProperty(
        named = "syncguard.interleavings",
        matches = "[0-9]+",
        disabledReason = "takes minutes; -Dsyncguard.interleavings=10 runs it")
public @interface LongInterleavings {}
