package io.syncguard.autoconfigure;

import java.util.List;
import java.util.Locale;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;
import org.springframework.util.StringUtils;

/**
 * A store of the locks. Its auto-configuration has {@link ConditionalOnBackend} and defines a {@code LockBackend} bean
 * of the name {@link #bean()}.
 *
 * @param name the name in properties, annotations and meters, such as {@code redis}
 */
public record Backend(String name) {

    /** Ignores upper case and spaces. */
    public Backend(String name) {
        this.name = name.strip().toLowerCase(Locale.ROOT);
    }

    /** The backends that {@code syncguard.backend} names, the primary one first; empty if it is not set. */
    public static List<Backend> namedIn(Environment environment) {
        return Binder.get(environment)
                .bind("syncguard.backend", Bindable.listOf(String.class))
                .orElse(List.of())
                .stream()
                .map(Backend::new)
                .distinct()
                .toList();
    }

    /** The name of the bean, such as {@code syncGuardRedisLockBackend} for {@code redis}. */
    public String bean() {
        return "syncGuard" + StringUtils.capitalize(name) + "LockBackend";
    }
}
