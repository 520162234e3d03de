package io.syncguard.redis;

import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPromise;
import io.syncguard.concurrent.Time;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Closes a connection on which nothing was read for two timeouts after a write. The driver then reconnects. The
 * operating system would repeat lost packets for a quarter of an hour before it reports an error, and its keepalive
 * works only while no data is unacknowledged.
 *
 * <p>Runs in the event loop of its channel. It checks twice, a timeout apart: after a pause, a process may run its
 * timers before it reads the data that has arrived.
 */
final class RedisReadTimeout extends ChannelDuplexHandler {

    private static final Log log = LogFactory.getLog(RedisReadTimeout.class);

    private final long timeoutNanos;
    private final Time time;

    /** Whether something was written and nothing read since. */
    private boolean awaiting;

    /** Whether one check has found that nothing was read for a timeout. A second such check closes the connection. */
    private boolean suspected;

    /** Whether a check is scheduled: at most one at a time. */
    private boolean looking;

    private long since;

    /** @param timeout how long an operation waits for its answer */
    RedisReadTimeout(Duration timeout, Time time) {
        this.timeoutNanos = timeout.toNanos();
        this.time = time;
    }

    @Override
    public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
        if (!awaiting) {
            awaiting = true;
            suspected = false;
            since = time.nanoTime();
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
        long left = since + timeoutNanos - time.nanoTime();
        if (left > 0) {
            lookIn(left, ctx);
        } else if (!suspected) {
            suspected = true;
            lookIn(timeoutNanos, ctx);
        } else {
            end(ctx);
        }
    }

    private static void end(ChannelHandlerContext ctx) {
        Channel channel = ctx.channel();
        log.warn("Redis is silent on a connection, which is closed and opened again: " + channel.remoteAddress());
        try {
            // Resets the connection: unsent data must not arrive after requests on the next connection.
            channel.config().setOption(ChannelOption.SO_LINGER, 0);
        } finally {
            // Closes from this handler, which is before TLS: TLS would wait until its closing message is sent.
            ctx.close();
        }
    }
}
