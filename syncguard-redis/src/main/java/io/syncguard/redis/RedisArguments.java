package io.syncguard.redis;

import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Arguments of a command as they are sent: each with its length before it. A request has some twenty of them, so one
 * array for all costs less than an object for each. Not thread-safe while arguments are added.
 */
final class RedisArguments {

    private static final byte[] NOTHING = {};

    private byte[] bytes;
    private int length;
    private int count;

    RedisArguments() {
        this(256);
    }

    /** @param size expected number of bytes, with ten for the length of each argument */
    RedisArguments(int size) {
        bytes = new byte[size];
    }

    static RedisArguments of(Iterable<String> texts) {
        RedisArguments arguments = new RedisArguments();
        texts.forEach(arguments::add);
        return arguments;
    }

    RedisArguments add(String text) {
        return add(NOTHING, NOTHING, text.getBytes(StandardCharsets.UTF_8));
    }

    RedisArguments add(long number) {
        return add(Long.toString(number));
    }

    /** Adds one argument that consists of three parts. */
    RedisArguments add(byte[] first, byte[] second, byte[] third) {
        writeLength(first.length + second.length + third.length);
        write(first);
        write(second);
        write(third);
        endLine();
        count++;
        return this;
    }

    RedisArguments addAll(RedisArguments others) {
        ensure(others.length);
        System.arraycopy(others.bytes, 0, bytes, length, others.length);
        length += others.length;
        count += others.count;
        return this;
    }

    int count() {
        return count;
    }

    /** The number of bytes. */
    int size() {
        return length;
    }

    /** Returns the first argument; {@code null} if there is none. */
    @Nullable
    ByteBuffer first() {
        if (count == 0) {
            return null;
        }
        int size = 0;
        int at = 1;
        for (; bytes[at] != '\r'; at++) {
            size = size * 10 + bytes[at] - '0';
        }
        return ByteBuffer.wrap(bytes, at + 2, size);
    }

    void writeTo(ByteBuf buffer) {
        buffer.writeBytes(bytes, 0, length);
    }

    private void writeLength(int size) {
        ensure(1 + 10);
        bytes[length++] = '$';
        int digits = 1;
        for (int rest = size / 10; rest > 0; rest /= 10) {
            digits++;
        }
        int rest = size;
        for (int at = length + digits - 1; at >= length; at--) {
            bytes[at] = (byte) ('0' + rest % 10);
            rest /= 10;
        }
        length += digits;
        endLine();
    }

    private void write(byte[] part) {
        ensure(part.length);
        System.arraycopy(part, 0, bytes, length, part.length);
        length += part.length;
    }

    private void endLine() {
        ensure(2);
        bytes[length++] = '\r';
        bytes[length++] = '\n';
    }

    private void ensure(int more) {
        if (length + more > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, length + more));
        }
    }
}
