package io.syncguard.actuate;

import io.syncguard.LockRequest;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The names of locks by their keys, as far as this process knows them. A name is no secret, unlike a key. Immutable.
 *
 * @param byKey of locks that this process uses or has used lately
 * @param used all names that it has used
 */
record KnownNames(Map<String, String> byKey, Set<String> used) {

    /** The name of the lock with this key; {@code null} if this process does not know it. */
    @Nullable
    String of(String key) {
        String name = byKey.getOrDefault(key, beginningOf(key));
        return name.equals(LockRequest.UNNAMED) ? null : name;
    }

    /** The key of a request by name begins with the name. The longest one is that of the request. */
    private String beginningOf(String key) {
        for (int end = key.length(); end > 0; end = key.lastIndexOf(':', end - 1)) {
            if (used.contains(key.substring(0, end))) {
                return key.substring(0, end);
            }
        }
        return LockRequest.UNNAMED;
    }
}
