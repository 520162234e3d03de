package io.syncguard.verification.matrix;

import io.syncguard.embedded.OwnMariaDb;
import java.util.List;
import java.util.Random;
import org.awaitility.Awaitility;
import org.springframework.jdbc.core.JdbcTemplate;

/** Faults of a MariaDB server and of its administrators. */
final class MariaDbServerFaults {

    private static final String SOME_SESSIONS = """
            SELECT id FROM information_schema.processlist
            WHERE db = DATABASE() AND id <> CONNECTION_ID() AND RAND() < 0.34
            """;

    private final OwnMariaDb server;
    private final JdbcTemplate jdbc;

    MariaDbServerFaults(MariaDbSite site) {
        this.server = site.server();
        this.jdbc = site.locks();
    }

    List<Fault> all() {
        return List.of(
                Fault.crash(3, "the server is killed and started again", this::restart)
                        .everyNth(2),
                Fault.of(3, "the server stands still", this::freeze).everyNth(2),
                Fault.of(13, "statements are cancelled", random -> onSomeSessions("KILL QUERY ")),
                Fault.of(14, "sessions are terminated", random -> onSomeSessions("KILL CONNECTION ")));
    }

    private void restart(Random random) {
        server.kill();
        LinkFaults.pause(random, 1, 300);
        server.start();
    }

    private void freeze(Random random) {
        Runnable resume = server.freeze();
        LinkFaults.pause(random, 100, 1800);
        resume.run();
    }

    /** Hits each session with a chance of one third, and repeats until at least one was hit. */
    private void onSomeSessions(String what) {
        Awaitility.await("a session").ignoreExceptions().until(() -> {
            List<Long> sessions = jdbc.queryForList(SOME_SESSIONS, Long.class);
            sessions.forEach(session -> jdbc.execute(what + session));
            return !sessions.isEmpty();
        });
    }
}
