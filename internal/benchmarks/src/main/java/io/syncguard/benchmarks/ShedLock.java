package io.syncguard.benchmarks;

import com.zaxxer.hikari.HikariDataSource;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import org.springframework.jdbc.core.JdbcTemplate;

/** ShedLock's JdbcTemplate provider with the database's time. It does not wait. */
final class ShedLock implements Contender {

    /** The table definition in ShedLock's manual. */
    static final String TABLE = """
            CREATE TABLE shedlock (
                name VARCHAR(64) NOT NULL,
                lock_until TIMESTAMP(3) NOT NULL,
                locked_at TIMESTAMP(3) NOT NULL,
                locked_by VARCHAR(255) NOT NULL,
                PRIMARY KEY (name))
            """;

    private static final Duration TTL = Duration.ofMinutes(1);

    private final HikariDataSource pool;
    private final LockProvider provider;

    ShedLock(HikariDataSource pool) {
        this.pool = pool;
        this.provider = new JdbcTemplateLockProvider(JdbcTemplateLockProvider.Configuration.builder()
                .withJdbcTemplate(new JdbcTemplate(pool))
                .usingDbTime()
                .build());
    }

    @Override
    public boolean attempt(String key, Runnable body) {
        Optional<SimpleLock> lock = provider.lock(new LockConfiguration(Instant.now(), key, TTL, Duration.ZERO));
        if (lock.isEmpty()) {
            return false;
        }
        try {
            body.run();
        } finally {
            lock.get().unlock();
        }
        return true;
    }

    @Override
    public void close() {
        pool.close();
    }
}
