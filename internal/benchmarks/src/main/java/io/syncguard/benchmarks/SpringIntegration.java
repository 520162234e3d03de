package io.syncguard.benchmarks;

import com.zaxxer.hikari.HikariDataSource;
import java.time.Duration;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.springframework.core.io.ClassPathResource;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.jdbc.lock.DefaultLockRepository;
import org.springframework.integration.jdbc.lock.JdbcLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.jdbc.support.JdbcTransactionManager;

/**
 * Spring Integration's lock registries with their defaults, except for a longer ttl: they do not extend it during a
 * measurement.
 */
final class SpringIntegration {

    /** The scripts in the jar, with all tables of Spring Integration. */
    private static final String SCRIPTS = "org/springframework/integration/jdbc/schema-";

    private static final Duration TTL = Duration.ofMinutes(1);

    private SpringIntegration() {}

    static void makeTables(DataSource database) {
        run("postgresql.sql", database);
    }

    static void makeTablesOfMariaDb(DataSource database) {
        run("mysql.sql", database);
    }

    private static void run(String script, DataSource database) {
        new ResourceDatabasePopulator(new ClassPathResource(SCRIPTS + script)).execute(database);
    }

    /** @param settings changes to the defaults */
    static PatientContender onDatabase(HikariDataSource pool, Consumer<JdbcLockRegistry> settings) {
        DefaultLockRepository repository = new DefaultLockRepository(pool);
        repository.setTransactionManager(new JdbcTransactionManager(pool));
        repository.afterPropertiesSet();
        repository.afterSingletonsInstantiated();
        repository.start();
        JdbcLockRegistry locks = new JdbcLockRegistry(repository, TTL);
        settings.accept(locks);
        return new JdkLocks(locks::obtain, () -> {
            repository.close();
            pool.close();
        });
    }

    static WaitingContender onRedis(String url, RedisLockType type) {
        LettuceConnectionFactory connections = new LettuceConnectionFactory(
                (RedisStandaloneConfiguration) LettuceConnectionFactory.createRedisConfiguration(url));
        connections.afterPropertiesSet();
        connections.start();
        RedisLockRegistry locks = new RedisLockRegistry(connections, "locks", TTL);
        locks.setRedisLockType(type);
        return new JdkLocks(locks::obtain, () -> {
            locks.destroy();
            connections.destroy();
        });
    }
}
