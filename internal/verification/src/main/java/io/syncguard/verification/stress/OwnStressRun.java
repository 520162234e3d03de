package io.syncguard.verification.stress;

import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.testing.PostgresServer;
import io.syncguard.verification.StressSettings;
import io.syncguard.verification.bugs.Bug;
import io.syncguard.verification.stress.StressServer.Surroundings;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.springframework.jdbc.core.JdbcTemplate;

/** A run on a server of its own, with the data of the applications in a database of PostgreSQL. */
final class OwnStressRun {

    private final HikariDataSource dataSource = new HikariDataSource();
    private final StressServer server;
    private final StressRun run;

    OwnStressRun(StressSettings settings, StressServer.Starter starter) throws IOException {
        this(settings, starter, Bug.NONE);
    }

    /** @param bug the bug of the workers */
    OwnStressRun(StressSettings settings, StressServer.Starter starter, Bug bug) throws IOException {
        Path directory = settings.newDirectory("stress");
        String url = PostgresServer.newDatabaseUrl();
        dataSource.setJdbcUrl(url);
        dataSource.addDataSourceProperty("ApplicationName", PostgresFaults.APPLICATION_NAME);
        StressDatabase database = new StressDatabase(new JdbcTemplate(dataSource), StressDatabase.PREFIX);
        database.create();
        server = starter.start(new Surroundings(url, dataSource, directory));
        run = new StressRun(settings, directory, database, server, List.of(bug.property()));
    }

    StressReport run() throws Exception {
        return run.run();
    }

    void stop() throws InterruptedException {
        run.stop();
        server.close();
        dataSource.close();
    }

    Set<String> ownEvents() {
        return server.ownEvents();
    }

    void deleteFiles() throws IOException {
        run.deleteFiles();
    }
}
