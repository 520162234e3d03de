package io.syncguard.autoconfigure;

import io.syncguard.LockSetupException;
import java.util.List;
import java.util.Locale;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;

/**
 * The store of the locks.
 */
public enum Backend {

    /** The database of a DataSource. */
    POSTGRES(Backend.POSTGRES_BEAN, "syncguard-spring-boot-starter, with HikariCP and PostgreSQL's driver"),

    /** The Redis of a LettuceConnectionFactory. */
    REDIS(Backend.REDIS_BEAN, "spring-boot-starter-data-redis, with Lettuce");

    static final String POSTGRES_BEAN = "syncGuardPostgresLockBackend";

    static final String REDIS_BEAN = "syncGuardRedisLockBackend";

    private final String bean;
    private final String libraries;

    Backend(String bean, String libraries) {
        this.bean = bean;
        this.libraries = libraries;
    }

    /** The backends that {@code syncguard.backend} names, the primary one first; empty if it is not set. */
    public static List<Backend> namedIn(Environment environment) {
        return Binder.get(environment)
                .bind("syncguard.backend", Bindable.listOf(Backend.class))
                .orElse(List.of())
                .stream()
                .distinct()
                .toList();
    }

    /** The name of the bean. */
    public String bean() {
        return bean;
    }

    /** The name in properties and annotations, the same as in meters. */
    public String qualifier() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Creates the exception for a start where the property names this backend, but it was not configured. */
    LockSetupException missing() {
        return LockSetupException.invalid(
                "syncguard.backend names '" + qualifier() + "', which is missing: its libraries are not on the class"
                        + " path, or the application has its own LockBackend",
                "Add " + libraries,
                "Remove it from syncguard.backend");
    }
}
