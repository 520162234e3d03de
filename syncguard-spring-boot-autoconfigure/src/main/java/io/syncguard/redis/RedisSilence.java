package io.syncguard.redis;

import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPromise;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Closes a connection on which something was written and then nothing was read for two timeouts. Then the driver
 * reconnects. The operating system would send lost packets again for a quarter of an hour before it reports an error,
 * and its keepalive works only while nothing is under way.
 *
 * <p>Runs in the event loop of its channel. It looks twice, a timeout apart: a process that stood still may run its
 * timers before it reads what has arrived.
 */
final class RedisSilence extends ChannelDuplexHandler {

    private static final Log log = LogFactory.getLog(RedisSilence.class);

    private final long timeoutNanos;

    /** Something was written, and nothing read since. */
    private boolean awaiting;

    /** One look has found that nothing was read for a timeout. A second one closes the connection. */
    private boolean suspected;

    /** Whether a look is scheduled. At most one is. */
    private boolean looking;

    private long since;

    /** @param timeout how long an operation waits for its answer */
    RedisSilence(Duration timeout) {
        this.timeoutNanos = timeout.toNanos();
    }

    @Override
    public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
        if (!awaiting) {
            awaiting = true;
            suspected = false;
            since = clock(ctx);
            if (!looking) {
                lookIn(timeoutNanos, ctx);
            }
        }
        ctx.write(message, promise);
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        awaiting = false;
        ctx.fireChannelRead(message);
    }

    private void lookIn(long nanos, ChannelHandlerContext ctx) {
        looking = true;
        ctx.executor().schedule(() -> look(ctx), nanos, TimeUnit.NANOSECONDS);
    }

    private void look(ChannelHandlerContext ctx) {
        looking = false;
        if (!awaiting || !ctx.channel().isActive()) {
            return;
        }
        long left = since + timeoutNanos - clock(ctx);
        if (left > 0) {
            lookIn(left, ctx);
        } else if (!suspected) {
            suspected = true;
            lookIn(timeoutNanos, ctx);
        } else {
            end(ctx);
        }
    }

    /** The clock of the event loop's timers. */
    private static long clock(ChannelHandlerContext ctx) {
        return ctx.executor().ticker().nanoTime();
    }

    private static void end(ChannelHandlerContext ctx) {
        Channel channel = ctx.channel();
        log.warn("Redis is silent on a connection, which is closed and made again: " + channel.remoteAddress());
        try {
            // Resets it: data that is still unsent must not arrive after requests on the next connection.
            channel.config().setOption(ChannelOption.SO_LINGER, 0);
        } finally {
            // From this handler on, which is in front of TLS: TLS would wait for its closing message to be sent.
            ctx.close();
        }
    }
}
