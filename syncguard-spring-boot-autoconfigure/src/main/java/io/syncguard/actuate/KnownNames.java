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
 * @param permits how many permits the annotated methods of a name have
 */
record KnownNames(Map<String, String> byKey, Set<String> used, Map<String, Set<Integer>> permits) {

    /** The name of the lock with this key; {@code null} if this process does not know it. */
    @Nullable
    String of(String key) {
        String name = byKey.getOrDefault(key, beginningOf(key, used));
        return name.equals(LockRequest.UNNAMED) ? null : name;
    }

    /** How many permits the annotated methods of this process have for the key; several numbers if they differ. */
    Set<Integer> permitsOf(String key) {
        String name = byKey.getOrDefault(key, LockRequest.UNNAMED);
        return permits.getOrDefault(permits.containsKey(name) ? name : beginningOf(key, permits.keySet()), Set.of());
    }

    /** The key of a request by name begins with the name. The longest one is that of the request. */
    private static String beginningOf(String key, Set<String> names) {
        for (int end = key.length(); end > 0; end = key.lastIndexOf(':', end - 1)) {
            if (names.contains(key.substring(0, end))) {
                return key.substring(0, end);
            }
        }
        return LockRequest.UNNAMED;
    }
}
