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

    private static final int ABBREVIATED_BYTES = 12;

    private Hashes() {}

    /** The first 12 bytes of the SHA-256 of the text in 24 lower-case hexadecimal digits. */
    public static String abbreviated(String text) {
        return HexFormat.of().formatHex(sha256(text), 0, ABBREVIATED_BYTES);
    }

    /** The lease with hashes of its key and its lock id. */
    public static LockInfo abbreviated(RawLockInfo raw) {
        return new LockInfo(
                abbreviated(raw.key()),
                abbreviated(raw.lockId()),
                raw.mode(),
                raw.acquiredAt(),
                raw.expiresAt(),
                raw.fence(),
                raw.owner());
    }

    static byte[] sha256(String text) {
        return sha256(text.getBytes(StandardCharsets.UTF_8));
    }

    static byte[] sha256(byte[] bytes) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(bytes);
        } catch (NoSuchAlgorithmException ex) {
            throw new IllegalStateException("Every Java platform has SHA-256", ex);
        }
    }
}
