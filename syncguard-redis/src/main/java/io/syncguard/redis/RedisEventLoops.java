package io.syncguard.redis;

import io.lettuce.core.resource.DefaultEventLoopGroupProvider;
import io.lettuce.core.resource.EventLoopGroupProvider;
import io.netty.util.concurrent.EventExecutorGroup;
import io.netty.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * The event loops of the driver, with all threads started at once. By default the driver starts each thread at its
 * first use, which may be a reconnection. If the thread cannot be created then, the driver gives up the connection for
 * good.
 */
final class RedisEventLoops implements EventLoopGroupProvider {

    private final EventLoopGroupProvider loops;

    RedisEventLoops(int threads) {
        this.loops = new DefaultEventLoopGroupProvider(threads);
    }

    /** Starts the threads of a group. */
    static void startThreads(EventExecutorGroup group) {
        group.forEach(each -> each.execute(() -> {}));
    }

    @Override
    public <T extends io.netty.channel.EventLoopGroup> T allocate(Class<T> type) {
        T group = loops.allocate(type);
        startThreads(group);
        return group;
    }

    @Override
    public int threadPoolSize() {
        return loops.threadPoolSize();
    }

    @Override
    public Future<Boolean> release(EventExecutorGroup group, long quietPeriod, long timeout, TimeUnit unit) {
        return loops.release(group, quietPeriod, timeout, unit);
    }

    @Override
    public Future<Boolean> shutdown(long quietPeriod, long timeout, TimeUnit unit) {
        return loops.shutdown(quietPeriod, timeout, unit);
    }
}
