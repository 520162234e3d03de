package io.syncguard.actuate;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Base64;
import javax.crypto.Cipher;
import javax.crypto.SecretKey;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;

/**
 * Hides the last key of a page from a reader who may not see it, and who asks with it for the next page. Only the
 * process that sealed a key can open it. Threads may share it.
 */
final class PageCursor {

    private static final String PREFIX = "page:";

    private static final int NONCE_BYTES = 12;

    private static final int TAG_BITS = 128;

    private final SecureRandom random = new SecureRandom();
    private final SecretKey secret;

    PageCursor() {
        this.secret = new SecretKeySpec(randomBytes(32), "AES");
    }

    /** The key itself, unless it would be taken for a sealed one. */
    String show(String key) {
        return key.startsWith(PREFIX) ? seal(key) : key;
    }

    String seal(String key) {
        byte[] nonce = randomBytes(NONCE_BYTES);
        byte[] sealed = run(Cipher.ENCRYPT_MODE, nonce, key.getBytes(StandardCharsets.UTF_8));
        byte[] all = Arrays.copyOf(nonce, nonce.length + sealed.length);
        System.arraycopy(sealed, 0, all, nonce.length, sealed.length);
        return PREFIX + Base64.getUrlEncoder().withoutPadding().encodeToString(all);
    }

    /** Returns a text that was not sealed as it is. */
    String open(String text) {
        if (!text.startsWith(PREFIX)) {
            return text;
        }
        try {
            byte[] all = Base64.getUrlDecoder().decode(text.substring(PREFIX.length()));
            if (all.length < NONCE_BYTES + TAG_BITS / 8) {
                throw new IllegalArgumentException("It is too short");
            }
            byte[] nonce = Arrays.copyOf(all, NONCE_BYTES);
            byte[] sealed = Arrays.copyOfRange(all, NONCE_BYTES, all.length);
            return new String(run(Cipher.DECRYPT_MODE, nonce, sealed), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException | IllegalStateException ex) {
            throw new InvalidEndpointRequestException(
                    "The parameter 'after' is of another process, or of an earlier run: begin with the first page",
                    "No such page",
                    ex);
        }
    }

    private byte[] run(int mode, byte[] nonce, byte[] input) {
        try {
            Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
            cipher.init(mode, secret, new GCMParameterSpec(TAG_BITS, nonce));
            return cipher.doFinal(input);
        } catch (GeneralSecurityException ex) {
            throw new IllegalStateException(ex);
        }
    }

    private byte[] randomBytes(int count) {
        byte[] bytes = new byte[count];
        random.nextBytes(bytes);
        return bytes;
    }
}
