package io.syncguard.actuate;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * Shows hashes in place of keys, and remembers the keys of those that it has shown. The hashes depend on a secret, so a
 * reader cannot test a guess. Thread-safe.
 */
final class HiddenKeys implements KeyView {

    /** Maximum number of remembered hashes: the ones that were shown last. */
    static final int MAX_REMEMBERED = 20_000;

    private static final String ALGORITHM = "HmacSHA256";

    private static final int SECRET_BYTES = 32;

    /** {@code LockInfo} shows as many. */
    private static final int SHOWN_BYTES = 12;

    private final SecretKeySpec secret;

    /** The keys by their hashes. Guarded by itself. */
    private final Map<String, String> remembered = new LinkedHashMap<>(16, 0.75f, true) {

        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, String> eldest) {
            return size() > MAX_REMEMBERED;
        }
    };

    /**
     * @param secret the secret of the hashes; instances with the same one show the same hashes; {@code null} for a
     *     random one
     */
    HiddenKeys(@Nullable String secret) {
        this.secret =
                new SecretKeySpec(secret == null ? randomBytes() : secret.getBytes(StandardCharsets.UTF_8), ALGORITHM);
    }

    @Override
    public boolean isPlain() {
        return false;
    }

    @Override
    public String show(String key) {
        String hash = hash(key);
        synchronized (remembered) {
            remembered.put(hash, key);
        }
        return hash;
    }

    /** Returns the key of a hash; {@code null} if this process has not shown it recently. */
    @Nullable
    String find(String shown) {
        synchronized (remembered) {
            return remembered.get(shown);
        }
    }

    /** Returns the hash of a key without remembering it. */
    String hash(String key) {
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(secret);
            return HexFormat.of().formatHex(mac.doFinal(key.getBytes(StandardCharsets.UTF_8)), 0, SHOWN_BYTES);
        } catch (GeneralSecurityException ex) {
            throw new IllegalStateException("Every Java platform has " + ALGORITHM, ex);
        }
    }

    private static byte[] randomBytes() {
        byte[] bytes = new byte[SECRET_BYTES];
        new SecureRandom().nextBytes(bytes);
        return bytes;
    }
}
