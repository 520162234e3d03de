package io.syncguard.core;

import java.security.SecureRandom;
import java.util.Base64;

/**
 * Makes lock ids: 16 bytes from a cryptographically strong source in 22 characters of base64url.
 */
final class LockIds {

    private static final Base64.Encoder BASE64 = Base64.getUrlEncoder().withoutPadding();

    private final SecureRandom random = new SecureRandom();

    String next() {
        byte[] bytes = new byte[16];
        random.nextBytes(bytes);
        return BASE64.encodeToString(bytes);
    }
}
