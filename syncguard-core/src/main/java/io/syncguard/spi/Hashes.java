package io.syncguard.spi;

import io.syncguard.LockInfo;
import io.syncguard.RawLockInfo;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * Hashes that messages and diagnostics may show instead of keys and lock ids.
 */
public final class Hashes {

    private static final int SHOWN_BYTES = 12;

    private Hashes() {}

    /** The first 12 bytes of the SHA-256 of the text in 24 lower-case hexadecimal digits. */
    public static String shown(String text) {
        return HexFormat.of().formatHex(sha256(text), 0, SHOWN_BYTES);
    }

    /** The same for the key and the lock id of a lease. */
    public static LockInfo shown(RawLockInfo raw) {
        return new LockInfo(
                shown(raw.key()),
                shown(raw.lockId()),
                raw.mode(),
                raw.acquiredAt(),
                raw.expiresAt(),
                raw.fence(),
                raw.owner());
    }

    static byte[] sha256(String text) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
        } catch (NoSuchAlgorithmException ex) {
            throw new IllegalStateException("Every Java platform has SHA-256", ex);
        }
    }
}
