package io.syncguard.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Objects;

/**
 * A Lua script of {@code syncguard/redis}, with what all have in common in front.
 *
 * @param text what the server runs
 * @param digest by which the server knows it when it has run it before
 */
record RedisScript(String text, String digest) {

    static RedisScript named(String name) {
        String text = read("common") + read(name);
        return new RedisScript(text, sha1(text));
    }

    private static String read(String name) {
        try (InputStream script = RedisScript.class.getResourceAsStream("/syncguard/redis/" + name + ".lua")) {
            return new String(Objects.requireNonNull(script).readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private static String sha1(String text) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-1").digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest);
        } catch (NoSuchAlgorithmException ex) {
            throw new IllegalStateException("Every Java platform has SHA-1", ex);
        }
    }
}
