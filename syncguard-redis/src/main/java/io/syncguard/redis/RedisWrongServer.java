package io.syncguard.redis;

import io.lettuce.core.RedisCommandExecutionException;
import io.netty.channel.Channel;
import io.syncguard.concurrent.Chain;
import io.syncguard.concurrent.Time;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Closes the connections to a server that reports that it is not the master, so that the next ones find the master.
 * When the address moves to the master, such as that of a proxy, open connections would stay at the old server.
 * Thread-safe.
 */
final class RedisWrongServer {

    private static final Log log = LogFactory.getLog(RedisWrongServer.class);

    /** The pause between two closings: the address may move to the master later than the first such answer. */
    private static final long PAUSE_NANOS = Duration.ofSeconds(1).toNanos();

    private final Time time;
    private final Set<Channel> channels = ConcurrentHashMap.newKeySet();
    private final AtomicLong nextAt;

    RedisWrongServer(Time time) {
        this.time = time;
        this.nextAt = new AtomicLong(time.nanoTime());
    }

    /** Registers a new connection. */
    void opened(Channel channel) {
        channels.add(channel);
        channel.closeFuture().addListener(any -> channels.remove(channel));
    }

    /**
     * Closes all connections if the error is such an answer, at most once a second.
     *
     * @return whether it is such an answer
     */
    boolean leaveAfter(Throwable error) {
        Optional<Throwable> answer = Chain.causes(error)
                .filter(cause -> cause instanceof RedisCommandExecutionException
                        && RedisAnswer.of(String.valueOf(cause.getMessage())) == RedisAnswer.NO_MASTER)
                .findFirst();
        answer.ifPresent(this::leave);
        return answer.isPresent();
    }

    private void leave(Throwable answer) {
        long now = time.nanoTime();
        long next = nextAt.get();
        if (now - next >= 0 && nextAt.compareAndSet(next, now + PAUSE_NANOS)) {
            log.debug("The server is not the master. Its connections are closed and opened again", answer);
            channels.forEach(Channel::close);
        }
    }
}
