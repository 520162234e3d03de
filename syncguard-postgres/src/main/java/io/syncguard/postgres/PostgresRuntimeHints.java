package io.syncguard.postgres;

import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

/** Registers what a native image has to contain: the script, and the socket factory, which the driver makes by name. */
final class PostgresRuntimeHints implements RuntimeHintsRegistrar {

    @Override
    public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
        hints.resources().registerPattern("db/syncguard/postgresql/*.sql");
        hints.reflection().registerType(PromptSocketFactory.class, MemberCategory.INVOKE_PUBLIC_CONSTRUCTORS);
    }
}
