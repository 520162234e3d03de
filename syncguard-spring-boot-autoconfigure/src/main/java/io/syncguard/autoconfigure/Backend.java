package io.syncguard.autoconfigure;

import java.util.List;
import java.util.Locale;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;

/**
 * Where locks are kept.
 */
enum Backend {

    /** In the database of a DataSource. */
    POSTGRES(Backend.POSTGRES_BEAN),

    /** In the Redis of a LettuceConnectionFactory. */
    REDIS(Backend.REDIS_BEAN);

    static final String POSTGRES_BEAN = "syncGuardPostgresLockBackend";

    static final String REDIS_BEAN = "syncGuardRedisLockBackend";

    private final String bean;

    Backend(String bean) {
        this.bean = bean;
    }

    /** Those that {@code syncguard.backend} names, the primary one first; none when nothing is said. */
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

    /** What it is called in properties and annotations: the name that the backend itself gives to meters. */
    String qualifier() {
        return name().toLowerCase(Locale.ROOT);
    }
}
