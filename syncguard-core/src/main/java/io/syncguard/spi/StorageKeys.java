package io.syncguard.spi;

import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;

/**
 * Makes the storage key of a key: the key itself if it fits, else a hash.
 *
 * @param prefix begins every storage key; colons at its end are dropped
 * @param limit the longest storage key, in UTF-8 bytes
 * @param reserve how many of these bytes the store needs for its suffixes
 */
public record StorageKeys(String prefix, int limit, int reserve) {

    /** 16 bytes in base64url without padding. */
    private static final int HASH_LENGTH = 22;

    /** @throws LockException with the code {@code INVALID_ARGUMENT} if the prefix leaves no room for a hashed key */
    public StorageKeys {
        while (prefix.endsWith(":")) {
            prefix = prefix.substring(0, prefix.length() - 1);
        }
        int shortest = utf8(prefix) + (prefix.isEmpty() ? 0 : 1) + HASH_LENGTH + reserve;
        if (shortest > limit) {
            throw new LockException(
                    LockErrorCode.INVALID_ARGUMENT,
                    "The key prefix is too long by " + (shortest - limit) + " bytes: shorten it");
        }
    }

    /** The storage key of a normalised key. */
    public String of(String key) {
        String start = prefix.isEmpty() ? "" : prefix + ":";
        String full = start + key;
        return fits(full) ? full : start + hash(full);
    }

    /** The storage key of the fence counter of a normalised key. */
    public String fenceOf(String key) {
        return of("fence:" + of(key));
    }

    /** A char has three bytes at most, so that most keys need not be encoded. */
    private boolean fits(String full) {
        int room = limit - reserve;
        return full.length() * 3 <= room || utf8(full) <= room;
    }

    private static String hash(String full) {
        byte[] first = Arrays.copyOf(Hashes.sha256(full), 16);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(first);
    }

    private static int utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8).length;
    }
}
