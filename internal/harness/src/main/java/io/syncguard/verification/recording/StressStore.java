package io.syncguard.verification.recording;

import io.syncguard.verification.history.HistoryEvent.Lease;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** The stored locks, read without the library. */
public interface StressStore {

    /** No lease of the stress lasts longer. */
    long LONGEST_TTL_MILLIS = 3000;

    /** The store at this URL, through the connections of the application. */
    static StressStore at(String url, BeanFactory application) {
        if (url.startsWith(RedisStressStore.CLUSTER_SCHEME)) {
            return new RedisStressStore(application.getBean(StringRedisTemplate.class), RedisStressStore.FOUR_SHARDS);
        }
        if (url.startsWith("jdbc:mariadb:")) {
            return inMariaDb(new JdbcTemplate(new DriverManagerDataSource(url)));
        }
        return url.startsWith("redis:")
                ? new RedisStressStore(application.getBean(StringRedisTemplate.class), RedisStressStore.ONE_SHARD)
                : JdbcStressStore.inPostgres(application.getBean(JdbcTemplate.class));
    }

    /** The store in PostgreSQL. */
    static StressStore of(JdbcTemplate jdbc) {
        return JdbcStressStore.inPostgres(jdbc);
    }

    /** The portable store in MariaDB. */
    static StressStore inMariaDb(JdbcTemplate jdbc) {
        return JdbcStressStore.inMariaDb(jdbc);
    }

    /** The store in Redis, under the usual prefix, with one shard. */
    static StressStore of(StringRedisTemplate redis) {
        return new RedisStressStore(redis, RedisStressStore.ONE_SHARD);
    }

    /** The key and the lock id of a lease or a queue entry. */
    record Known(String key, String lockId) {}

    /** A live lease. */
    record Live(Known lock, Lease lease) {}

    /** A random lease or queue entry. It may be empty if the store has few. */
    Optional<Known> anyLock(Random random);

    List<Live> liveLeases();

    /** The fence counters by key. */
    Map<String, Long> counters();

    /** The number of leases and queue entries, live or lapsed. */
    long entries();

    /** The number of leases and queue entries that last longer than allowed. */
    long withoutEnd();
}
