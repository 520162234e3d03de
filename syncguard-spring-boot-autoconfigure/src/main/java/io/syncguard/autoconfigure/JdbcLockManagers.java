package io.syncguard.autoconfigure;

import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockLimits;
import io.syncguard.LockManager;
import io.syncguard.LockSetupException;
import io.syncguard.MessageText;
import io.syncguard.concurrent.Shielded;
import io.syncguard.core.LockEngine;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import javax.sql.DataSource;

/**
 * Lock managers on several databases, for applications whose tenants have databases of their own. All have the
 * settings {@code syncguard.*}, and stop with the application. Thread-safe.
 *
 * <pre>{@code
 * @Bean
 * LockManager lockManager(JdbcLockManagers managers, Map<String, DataSource> tenants) {
 *     tenants.forEach(managers::create);
 *     return LockManager.routing(() -> managers.get(Tenant.current()));
 * }
 * }</pre>
 *
 * <p>Each manager has threads and a pool of connections of its own, as if it were the only one.
 */
public final class JdbcLockManagers implements AutoCloseable {

    private final Function<DataSource, LockEngine> factory;
    private final Map<String, LockEngine> engines = new ConcurrentHashMap<>();

    JdbcLockManagers(Function<DataSource, LockEngine> factory) {
        this.factory = factory;
    }

    /**
     * Creates a manager that stores its locks in this database, and sets up the schema there as
     * {@code schema-management} of {@code syncguard.postgres} or {@code syncguard.jdbc} says; {@code auto} creates it.
     *
     * @param name the name of the tenant, for {@link #get} and for operators
     * @throws LockSetupException if there is a manager of this name, or the database cannot be used
     */
    public LockManager create(String name, DataSource dataSource) {
        requireUnused(name);
        LockEngine engine = factory.apply(dataSource);
        if (engines.putIfAbsent(name, engine) != null) {
            engine.close();
            requireUnused(name);
        }
        return engine;
    }

    /**
     * Returns the manager of this name.
     *
     * @throws LockException with {@link LockErrorCode#INVALID_ARGUMENT} if there is none, or the name is {@code null}:
     *     the thread has no tenant
     */
    public LockManager get(String name) {
        LockEngine engine = engines.get(LockLimits.requireNonNull("name of a lock manager", name));
        if (engine == null) {
            throw LockSetupException.invalid(
                    "There is no lock manager '" + MessageText.shortened(name) + "', only "
                            + MessageText.listed(engines.keySet()),
                    MessageText.nextSteps(
                            name, engines.keySet(), "Correct the name", "Create it with JdbcLockManagers.create"));
        }
        return engine;
    }

    /** Ends the manager of this name: waits for its bodies, releases its locks, and closes its connections. */
    public void remove(String name) {
        LockEngine engine = engines.remove(name);
        if (engine != null) {
            Shielded.closeAll(engine::stop, engine);
        }
    }

    /** Returns a live map of all engines by their names. */
    Map<String, LockEngine> engines() {
        return engines;
    }

    /** Closes all engines, after the application has stopped them. */
    @Override
    public void close() {
        Shielded.closeAll(engines.values().toArray(AutoCloseable[]::new));
        engines.clear();
    }

    private void requireUnused(String name) {
        if (engines.containsKey(name)) {
            throw LockSetupException.invalid(
                    "there is a lock manager '" + name + "' already",
                    "Create it once, and get it by its name",
                    "Remove it first");
        }
    }
}
