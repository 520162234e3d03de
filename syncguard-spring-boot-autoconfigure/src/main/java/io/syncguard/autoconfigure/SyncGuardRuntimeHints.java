package io.syncguard.autoconfigure;

import io.syncguard.DistributedLock;
import io.syncguard.core.ProcessStatus;
import io.syncguard.leader.LeaderOnly;
import io.syncguard.postgres.PromptSocketFactory;
import java.sql.Connection;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.BindingReflectionHintsRegistrar;
import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

/**
 * Registers what a native image of every application has to contain: the scripts, the page of the console, and what is
 * created or read by reflection.
 */
final class SyncGuardRuntimeHints implements RuntimeHintsRegistrar {

    @Override
    public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
        Stream.of(
                        "db/syncguard/postgresql/*.sql",
                        "syncguard/fences/*/*.sql",
                        "syncguard/redis/*.lua",
                        "io/syncguard/actuate/console.html")
                .forEach(hints.resources()::registerPattern);
        // The driver instantiates it by name.
        hints.reflection().registerType(PromptSocketFactory.class, MemberCategory.INVOKE_PUBLIC_CONSTRUCTORS);
        hints.reflection()
                .registerTypeIfPresent(
                        classLoader,
                        "org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory",
                        factory -> factory.withField("configuration"));
        hints.reflection()
                .registerTypeIfPresent(
                        classLoader, ConnectionDetails.CREDENTIALS_PROVIDER, MemberCategory.INVOKE_PUBLIC_METHODS);
        // Read to recognise the connections of a pool behind a wrapper.
        Map.of(
                        "com.zaxxer.hikari.HikariDataSource", "pool",
                        "com.zaxxer.hikari.pool.HikariPool", "connectionBag",
                        "com.zaxxer.hikari.util.ConcurrentBag", "sharedList",
                        "com.zaxxer.hikari.pool.PoolEntry", "connection")
                .forEach((type, field) ->
                        hints.reflection().registerTypeIfPresent(classLoader, type, hint -> hint.withField(field)));
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
        // A lent connection.
        hints.proxies().registerJdkProxy(Connection.class);
    }
}
