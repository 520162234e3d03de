package io.syncguard.reactive;

import io.syncguard.LockManager;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

/**
 * The managers that were current when a subscription began. The Reactor context carries them, because the threads on
 * which the subscription continues do not know its caller.
 *
 * @param current the current manager of each routing manager
 */
record Routes(Map<LockManager, LockManager> current) {

    private static final Routes NONE = new Routes(Map.of());

    /** Returns the current manager; {@code null} if no publisher around the subscription has asked this manager. */
    static @Nullable LockManager current(LockManager manager, ContextView context) {
        return of(context).current.get(manager);
    }

    static Context with(LockManager manager, LockManager current, Context context) {
        Map<LockManager, LockManager> all = new HashMap<>(of(context).current);
        all.put(manager, current);
        return context.put(Routes.class, new Routes(Map.copyOf(all)));
    }

    private static Routes of(ContextView context) {
        return context.<Routes>getOrEmpty(Routes.class).orElse(NONE);
    }
}
