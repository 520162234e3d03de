package io.syncguard.benchmarks;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Function;
import javax.sql.DataSource;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

/** Who is measured side by side. */
enum Peer {
    /** It makes its tables and functions by itself. */
    SYNCGUARD("SyncGuard", database -> {}, SyncGuard::new),

    SHEDLOCK(
            "ShedLock", database -> new JdbcTemplate(database).execute(ShedLock.TABLE), url -> new ShedLock(pool(url))),

    SPRING_INTEGRATION(
            "Spring Integration",
            database ->
                    new ResourceDatabasePopulator(new ClassPathResource(SpringIntegration.SCRIPT)).execute(database),
            url -> new SpringIntegration(pool(url))),

    RAW(
            "raw statements",
            database -> new JdbcTemplate(database).execute(RawStatements.TABLE),
            url -> new RawStatements(pool(url))),

    EMPTY("empty statements", database -> {}, url -> new EmptyStatements(pool(url)));

    /** So many connections each of them gets for its pool at most, except SyncGuard, which has its default: 8. */
    private static final int CONNECTIONS = 16;

    private final String label;
    private final Consumer<DataSource> preparation;
    private final Function<String, Contender> opening;

    Peer(String label, Consumer<DataSource> preparation, Function<String, Contender> opening) {
        this.label = label;
        this.preparation = preparation;
        this.opening = opening;
    }

    String label() {
        return label;
    }

    /** The name of its database. */
    String database() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Makes its tables in an empty database. */
    void prepare(DataSource database) {
        preparation.accept(database);
    }

    /** A new instance, as another process would have it. */
    Contender open(String url) {
        return opening.apply(url);
    }

    /** A pool with all of its connections: opening them must not be counted or timed. */
    private static HikariDataSource pool(String url) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url);
        config.setMaximumPoolSize(CONNECTIONS);
        HikariDataSource pool = new HikariDataSource(config);
        while (pool.getHikariPoolMXBean().getTotalConnections() < CONNECTIONS) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
        }
        return pool;
    }
}
