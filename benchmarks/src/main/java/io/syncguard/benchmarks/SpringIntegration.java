package io.syncguard.benchmarks;

import com.zaxxer.hikari.HikariDataSource;
import java.time.Duration;
import java.util.concurrent.locks.Lock;
import org.springframework.integration.jdbc.lock.DefaultLockRepository;
import org.springframework.integration.jdbc.lock.JdbcLockRegistry;
import org.springframework.jdbc.support.JdbcTransactionManager;

/** Spring Integration's lock registry, as it comes but for the ttl, which it would not extend in the course of a measurement. */
final class SpringIntegration implements WaitingContender {

    /** In its jar, with all of its tables. */
    static final String SCRIPT = "org/springframework/integration/jdbc/schema-postgresql.sql";

    private static final Duration TTL = Duration.ofMinutes(1);

    private final HikariDataSource pool;
    private final DefaultLockRepository repository;
    private final JdbcLockRegistry locks;

    SpringIntegration(HikariDataSource pool) {
        this.pool = pool;
        this.repository = new DefaultLockRepository(pool);
        this.repository.setTransactionManager(new JdbcTransactionManager(pool));
        this.repository.afterPropertiesSet();
        this.repository.afterSingletonsInstantiated();
        this.repository.start();
        this.locks = new JdbcLockRegistry(repository, TTL);
    }

    @Override
    public boolean attempt(String key, Runnable body) {
        Lock lock = locks.obtain(key);
        if (!lock.tryLock()) {
            return false;
        }
        runAndUnlock(lock, body);
        return true;
    }

    @Override
    public void await(String key, Runnable body) {
        Lock lock = locks.obtain(key);
        lock.lock();
        runAndUnlock(lock, body);
    }

    @Override
    public void close() {
        repository.close();
        pool.close();
    }

    private static void runAndUnlock(Lock lock, Runnable body) {
        try {
            body.run();
        } finally {
            lock.unlock();
        }
    }
}
