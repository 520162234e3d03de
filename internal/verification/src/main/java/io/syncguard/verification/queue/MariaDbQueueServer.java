package io.syncguard.verification.queue;

import io.syncguard.portable.MySqlDialect;
import io.syncguard.portable.PortableSchema;
import io.syncguard.portable.PortableScript;
import io.syncguard.portable.PortableTables;
import io.syncguard.testing.MariaDbServer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import javax.sql.DataSource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** A new database with the tables of the portable store. */
public final class MariaDbQueueServer implements QueueServer {

    /** Processes look for wake-ups all the time, on any connection of the engine. */
    private static final String LOOK = """
            SELECT id FROM information_schema.processlist
            WHERE db = DATABASE() AND info LIKE '%waiter, woken%' AND id <> CONNECTION_ID() LIMIT 1
            """;

    private final String url = MariaDbServer.newDatabaseUrl();
    private final DataSource dataSource = new DriverManagerDataSource(url);
    private final JdbcTemplate jdbc = new JdbcTemplate(dataSource);

    public MariaDbQueueServer() {
        new PortableSchema(dataSource, new PortableScript(new MySqlDialect(), PortableTables.DEFAULT), null)
                .initialize(List::of);
    }

    @Override
    public String url() {
        return url;
    }

    @Override
    public int waiters(String key) {
        return jdbc.queryForObject("SELECT count(*) FROM syncguard_waiters WHERE lock_key = ?", Integer.class, (Object)
                key.getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public List<String> lockIds() {
        return jdbc.queryForList(
                "SELECT lock_id FROM syncguard_leases UNION SELECT lock_id FROM syncguard_waiters", String.class);
    }

    @Override
    public void endListener() {
        jdbc.queryForList(LOOK, Long.class).forEach(id -> jdbc.execute("KILL CONNECTION " + id));
    }

    @Override
    public void close() {
        // Other tests still use the server.
    }
}
