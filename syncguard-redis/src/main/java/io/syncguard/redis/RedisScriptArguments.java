package io.syncguard.redis;

import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.protocol.CommandArgs;
import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** The arguments of a command that runs a script. They are encoded already, and the driver logs none of them. */
final class RedisScriptArguments extends CommandArgs<byte[], byte[]> {

    private final RedisArguments head;
    private final RedisArguments keys;
    private final RedisArguments arguments;

    /** @param script its digest or its text */
    RedisScriptArguments(String script, RedisArguments keys, RedisArguments arguments) {
        super(ByteArrayCodec.INSTANCE);
        this.head = new RedisArguments(script.length() + 20).add(script).add(keys.count());
        this.keys = keys;
        this.arguments = arguments;
    }

    @Override
    public int count() {
        return head.count() + keys.count() + arguments.count();
    }

    @Override
    public void encode(ByteBuf buffer) {
        head.writeTo(buffer);
        keys.writeTo(buffer);
        arguments.writeTo(buffer);
    }

    /** The driver of a cluster sends the command to the node of this key. */
    @Override
    public @Nullable ByteBuffer getFirstEncodedKey() {
        return keys.first();
    }
}
