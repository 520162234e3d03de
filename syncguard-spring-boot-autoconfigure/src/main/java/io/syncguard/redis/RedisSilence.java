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
 * Ends a connection on which something was written, and nothing at all was read for two timeouts: the system goes on sending for
 * a quarter of an hour before it reports that packets get lost, and looks for a lost peer only where nothing is under way. The
 * driver connects again.
 *
 * <p>Runs in the event loop of its channel. It looks twice, a timeout apart: a process that stood still may run what is due before
 * it reads what has arrived.
 */
final class RedisSilence extends ChannelDuplexHandler {

    private static final Log log = LogFactory.getLog(RedisSilence.class);

    private final long timeoutNanos;

    /** Something was written, and nothing read since. */
    private boolean awaiting;

    /** A look has found nothing read for a timeout; the next one that does ends the connection. */
    private boolean suspected;

    /** One look at most is due. */
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

    /** The one by which the event loop knows what is due. */
    private static long clock(ChannelHandlerContext ctx) {
        return ctx.executor().ticker().nanoTime();
    }

    private static void end(ChannelHandlerContext ctx) {
        Channel channel = ctx.channel();
        log.warn("Redis is silent on a connection, which is closed and made again: " + channel.remoteAddress());
        try {
            // Resets it. What the system would go on sending must not arrive after what is sent on the next one.
            channel.config().setOption(ChannelOption.SO_LINGER, 0);
        } finally {
            // From here, not from the other end: TLS would say good-bye first, to whom nothing arrives.
            ctx.close();
        }
    }
}
