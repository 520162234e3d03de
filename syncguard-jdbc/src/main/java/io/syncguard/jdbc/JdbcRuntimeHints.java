package io.syncguard.jdbc;

import java.sql.Connection;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

/** Registers what a native image has to contain: what is read by reflection, the proxies of a lent connection,
 * and the scripts. */
final class JdbcRuntimeHints implements RuntimeHintsRegistrar {

    @Override
    public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
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
        hints.proxies().registerJdkProxy(Connection.class);
        CompleteConnection.PARTS.forEach(part -> hints.proxies().registerJdkProxy(part));
        hints.resources().registerPattern("syncguard/schema/*/R__syncguard_schema.sql");
    }
}
