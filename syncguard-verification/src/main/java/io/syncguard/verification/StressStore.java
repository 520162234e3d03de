package io.syncguard.verification;

import io.syncguard.verification.HistoryEvent.Lease;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.jdbc.core.JdbcTemplate;

/** What is kept of locks, seen past the library. */
interface StressStore {

    /** The store at that URL, by what an application has to get there. */
    static StressStore at(String url, BeanFactory application) {
        return url.startsWith("redis:")
                ? new RedisStressStore(application.getBean(StringRedisTemplate.class))
                : new PostgresStressStore(application.getBean(JdbcTemplate.class));
    }

    /** Whose it is. */
    record Known(String key, String lockId) {}

    /** A lease that is live. */
    record Live(Known lock, Lease lease) {}

    /** A lease, or the place of somebody who waits; none if there are few. */
    Optional<Known> somebodysLock(Random random);

    List<Live> liveLeases();

    /** The fence counters by key. */
    Map<String, Long> counters();

    /** How many leases and places last longer than any may. */
    long withoutEnd();
}
