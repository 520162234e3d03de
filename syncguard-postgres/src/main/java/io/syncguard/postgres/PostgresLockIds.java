package io.syncguard.postgres;

import java.util.Base64;

/**
 * Lock ids whose first two characters are twelve bits of a hash of the key. The lock id alone thus groups requests by
 * key, and rarely mixes two keys. At least 116 bits stay random.
 */
final class PostgresLockIds {

    private static final int HASH_LENGTH = 2;

    private static final Base64.Encoder BASE64 = Base64.getUrlEncoder();

    private PostgresLockIds() {}

    /** @param random 22 characters of base64url */
    static String of(String key, String random) {
        int hash = key.hashCode() * 0x9E3779B9;
        byte[] first = {(byte) (hash >>> 24), (byte) (hash >>> 16), 0};
        return BASE64.encodeToString(first).substring(0, HASH_LENGTH) + random.substring(HASH_LENGTH);
    }
}
