package io.syncguard.portable;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.concurrent.Time;
import io.syncguard.core.StoppedStore;
import io.syncguard.jdbc.JdbcConnections;
import io.syncguard.jdbc.RunningRequests;
import io.syncguard.rules.KeyRules;
import io.syncguard.spi.FenceSource;
import io.syncguard.spi.LockBackend;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import org.springframework.jdbc.core.JdbcTemplate;

/** A database of its own, in which requests read a row in place of the clock. */
final class PortableStoppedStore implements StoppedStore {

    private static final String CLOCK = "(SELECT millis FROM test_clock)";

    private final HikariDataSource dataSource;
    private final JdbcTemplate jdbc;
    private final Dialect real;
    private final Dialect dialect;
    private final PortableSettings settings;

    PortableStoppedStore(Dialect real, String url, FenceSource fences) {
        this.real = real;
        dialect = (Dialect) Proxy.newProxyInstance(
                Dialect.class.getClassLoader(),
                new Class<?>[] {Dialect.class},
                (proxy, method, arguments) ->
                        method.getName().equals("clock") ? CLOCK : method.invoke(real, arguments));
        settings = new PortableSettings(Duration.ofSeconds(5), WAITER_TTL, Duration.ZERO, fences);
        HikariConfig details = new HikariConfig();
        details.setJdbcUrl(url);
        details.setMinimumIdle(1);
        real.complete(details, settings.timeout(), "");
        dataSource = new HikariDataSource(details);
        jdbc = new JdbcTemplate(dataSource);
        new PortableSchema(dataSource, new PortableScript(real, PortableTables.DEFAULT), null).initialize(List::of);
        jdbc.execute("CREATE TABLE test_clock AS SELECT " + real.clock() + " AS millis");
    }

    @Override
    public FenceSource fences() {
        return settings.fences();
    }

    @Override
    public LockBackend newBackend() {
        return new PortableLockBackend(dataSource, dataSource, dialect, PortableTables.DEFAULT, settings, () -> {});
    }

    @Override
    public void moveClock(Duration by) {
        jdbc.update("UPDATE test_clock SET millis = millis + ?", by.toMillis());
    }

    /** The clock that requests would read without this one. */
    long clockMillis() {
        return jdbc.queryForObject("SELECT " + real.clock(), Long.class);
    }

    @Override
    public void sweep(String key) {
        PortableSessions sessions = new PortableSessions(dialect, settings.timeout());
        JdbcConnections connections =
                new JdbcConnections(dataSource, sessions, settings.timeout(), new RunningRequests(Time.SYSTEM));
        new PortableSweeps(
                        new LeaseRows(connections, sessions, dialect, PortableTables.DEFAULT, WAITER_TTL),
                        new KeySteps(sessions, dialect, PortableTables.DEFAULT, "the sweeper", wakeUp -> {}),
                        new KeyRules(WAITER_TTL, fences()),
                        connections)
                .sweep(List.of(key));
    }

    @Override
    public void loseCounter(String key) {
        jdbc.update("DELETE FROM syncguard_keys WHERE lock_key = ?", (Object) KeyRows.bytes(key));
    }

    @Override
    public void close() {
        dataSource.close();
    }
}
