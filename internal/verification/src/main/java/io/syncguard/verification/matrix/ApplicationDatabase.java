package io.syncguard.verification.matrix;

import io.syncguard.embedded.OwnPostgres;
import io.syncguard.testing.PostgresServer;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.jdbc.core.JdbcTemplate;

/** A database of applications whose locks are elsewhere. All databases are on one server, which ends with this JVM. */
record ApplicationDatabase(String url, JdbcTemplate jdbc) {

    private static final AtomicInteger NUMBERS = new AtomicInteger();

    private static final class Server {
        static final OwnPostgres RUNNING = new OwnPostgres(PostgresSite.DURABLE);
    }

    static ApplicationDatabase create() {
        String name = "applications_" + NUMBERS.incrementAndGet();
        Server.RUNNING.jdbc().execute("CREATE DATABASE " + name);
        String url = Server.RUNNING.url().replace("/postgres?", "/" + name + "?");
        JdbcTemplate jdbc = new JdbcTemplate(PostgresServer.dataSource(url));
        jdbc.execute(Orders.TABLES);
        return new ApplicationDatabase(url, jdbc);
    }
}
