package io.syncguard.benchmarks;

import io.syncguard.embedded.OwnMariaDb;
import io.syncguard.embedded.RunDirectory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** A durable MariaDB with several databases, and its counters. */
final class MariaDbServer implements Server {

    /** Three processes have the pools of all candidates open. */
    private final OwnMariaDb server = new OwnMariaDb(RunDirectory.newDirectory("mariadb"), "--max-connections=400");

    private final JdbcTemplate jdbc = new JdbcTemplate(new DriverManagerDataSource(server.url("")));

    @Override
    public String description() {
        return "MariaDB " + variable("version") + ", innodb_flush_log_at_trx_commit = "
                + variable("innodb_flush_log_at_trx_commit");
    }

    @Override
    public long processId() {
        try {
            return Long.parseLong(
                    Files.readString(Path.of(variable("pid_file"))).strip());
        } catch (IOException ex) {
            throw new IllegalStateException("The server has no file with its process id", ex);
        }
    }

    @Override
    public String newDatabase(Peer peer) {
        jdbc.execute("CREATE DATABASE " + peer.database());
        String url = server.url(peer.database());
        peer.prepare(new DriverManagerDataSource(url));
        return url;
    }

    /** Statements of all clients since the start of the server, with this one. */
    long statements() {
        return status("Questions");
    }

    /** Flushes of its log and its data since the start of the server. */
    long flushes() {
        return status("Innodb_data_fsyncs");
    }

    private long status(String name) {
        return Long.parseLong(jdbc.queryForObject(
                "SELECT variable_value FROM information_schema.global_status WHERE variable_name = ?",
                String.class,
                name));
    }

    private String variable(String name) {
        return String.valueOf(jdbc.queryForObject("SELECT @@" + name, String.class));
    }

    @Override
    public void close() {
        server.close();
    }
}
