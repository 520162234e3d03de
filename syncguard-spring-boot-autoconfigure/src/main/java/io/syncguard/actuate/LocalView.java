package io.syncguard.actuate;

import io.syncguard.core.LocalLock;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The view of a reader on locks, with the knowledge of this process beyond the store. Immutable.
 *
 * @param keys how the reader sees keys
 * @param names the known names of locks
 * @param callers the callers of this process
 */
record LocalView(KeyView keys, KnownNames names, OwnCallers callers) {

    /** The view of a process that knows nothing of its own callers. */
    static LocalView unaware(KeyView keys) {
        return new LocalView(keys, new KnownNames(Map.of(), Set.of(), Map.of()), OwnCallers.NONE);
    }

    /**
     * Returns the thread as a thread dump shows it. Hides the name of the thread together with keys, because it may
     * contain data, such as that of a request.
     */
    @Nullable
    String thread(@Nullable LocalLock caller) {
        return caller == null ? null : threadOf(caller);
    }

    String threadOf(LocalLock caller) {
        Thread thread = caller.thread();
        String number = "#" + thread.getId();
        return keys.isPlain() && !thread.getName().isEmpty() ? thread.getName() + " " + number : number;
    }
}
