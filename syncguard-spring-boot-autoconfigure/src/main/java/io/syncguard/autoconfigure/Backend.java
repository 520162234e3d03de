package io.syncguard.autoconfigure;

import java.util.List;
import java.util.Locale;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;

/**
 * The store of the locks.
 */
enum Backend {

    /** The database of a DataSource. */
    POSTGRES(Backend.POSTGRES_BEAN),

    /** The Redis of a LettuceConnectionFactory. */
    REDIS(Backend.REDIS_BEAN);

    static final String POSTGRES_BEAN = "syncGuardPostgresLockBackend";

    static final String REDIS_BEAN = "syncGuardRedisLockBackend";

    private final String bean;

    Backend(String bean) {
        this.bean = bean;
    }

    /** The backends that {@code syncguard.backend} names, the primary one first; empty if it is not set. */
    static List<Backend> namedIn(Environment environment) {
        return Binder.get(environment)
                .bind("syncguard.backend", Bindable.listOf(Backend.class))
                .orElse(List.of())
                .stream()
                .distinct()
                .toList();
    }

    /** The name of the bean. */
    String bean() {
        return bean;
    }

    /** The name in properties and annotations, the same as in meters. */
    String qualifier() {
        return name().toLowerCase(Locale.ROOT);
    }
}
