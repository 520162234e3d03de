package io.syncguard.autoconfigure;

import io.syncguard.DistributedLock;
import io.syncguard.core.ProcessStatus;
import io.syncguard.leader.LeaderOnly;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.BindingReflectionHintsRegistrar;
import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

/**
 * Registers what a native image of every application has to contain: the scripts, the page of the console, and what is
 * created or read by reflection.
 */
final class SyncGuardRuntimeHints implements RuntimeHintsRegistrar {

    @Override
    public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
        Stream.of("syncguard/fences/*/*.sql", "syncguard/redis/*.lua", "io/syncguard/actuate/console/*")
                .forEach(hints.resources()::registerPattern);
        hints.reflection()
                .registerTypeIfPresent(
                        classLoader,
                        "org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory",
                        factory -> factory.withField("configuration"));
        // Read to find out whether an execution still runs.
        Stream.of(
                        "org.springframework.batch.core.JobExecution",
                        "org.springframework.batch.core.StepExecution",
                        "org.springframework.batch.core.job.JobExecution",
                        "org.springframework.batch.core.step.StepExecution")
                .forEach(type -> hints.reflection()
                        .registerTypeIfPresent(
                                classLoader,
                                type,
                                hint -> hint.withMethod("getStatus", List.of(), ExecutableMode.INVOKE)));
        // Details of the health are objects without a declared type.
        new BindingReflectionHintsRegistrar().registerReflectionHints(hints.reflection(), ProcessStatus.class);
        hints.proxies().registerJdkProxy(DistributedLock.class);
        hints.proxies().registerJdkProxy(LeaderOnly.class);
    }
}
