package io.syncguard.redis;

import io.lettuce.core.RedisFuture;
import io.lettuce.core.api.async.BaseRedisAsyncCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.NestedMultiOutput;
import io.lettuce.core.protocol.CommandType;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A Lua script of {@code syncguard/redis}. Loading replaces each line {@code -- include part} by that part, unless the
 * part is included already, and removes comment lines.
 *
 * @param name the name of its file
 * @param text the source that the server runs
 * @param digest the SHA-1 of the text, which identifies a script that the server has run before
 */
record RedisScript(String name, String text, String digest) {

    private static final Pattern INCLUDE = Pattern.compile("^-- include (\\w+)$", Pattern.MULTILINE);

    private static final Pattern COMMENT = Pattern.compile("^ *--.*\\R", Pattern.MULTILINE);

    static RedisScript named(String name) {
        return of(name, RedisScript::read);
    }

    /** @param files returns the content of the file with a name */
    static RedisScript of(String name, UnaryOperator<String> files) {
        String code = COMMENT.matcher(expanded(name, files, Set.of())).replaceAll("");
        return new RedisScript(name, code, sha1(code));
    }

    /** Runs the script by its digest, which the server knows if it has run the script since its start. */
    RedisFuture<List<Object>> run(
            BaseRedisAsyncCommands<byte[], byte[]> commands, RedisArguments keys, RedisArguments arguments) {
        return run(commands, CommandType.EVALSHA, digest, keys, arguments);
    }

    /** Runs the script by its text. */
    RedisFuture<List<Object>> runText(
            BaseRedisAsyncCommands<byte[], byte[]> commands, RedisArguments keys, RedisArguments arguments) {
        return run(commands, CommandType.EVAL, text, keys, arguments);
    }

    private static RedisFuture<List<Object>> run(
            BaseRedisAsyncCommands<byte[], byte[]> commands,
            CommandType command,
            String script,
            RedisArguments keys,
            RedisArguments arguments) {
        return commands.dispatch(
                command,
                new NestedMultiOutput<>(ByteArrayCodec.INSTANCE),
                new RedisScriptArguments(script, keys, arguments));
    }

    /** @param known the parts that the surrounding text has included already */
    private static String expanded(String name, UnaryOperator<String> files, Set<String> known) {
        Set<String> included = new HashSet<>(known);
        // Instances with other line ends in their jars use the same scripts of the server: it keeps one per digest.
        String text = files.apply(name).replaceAll("\r\n?", "\n");
        return INCLUDE.matcher(text).replaceAll(include -> {
            String part = include.group(1);
            return included.add(part) ? Matcher.quoteReplacement(expanded(part, files, included)) : "";
        });
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
