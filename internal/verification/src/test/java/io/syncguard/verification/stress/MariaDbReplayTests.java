package io.syncguard.verification.stress;

import io.syncguard.verification.stress.StressServer.Surroundings;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** Records each change of a row of the portable store with triggers. */
@Tag("verification")
class MariaDbReplayTests extends ReplayContract {

    private MariaDbRowLog log;

    @Override
    StressServer start(Surroundings surroundings) {
        StressServer server = MariaDbStressServer.forReplay(surroundings);
        log = new MariaDbRowLog(new JdbcTemplate(new DriverManagerDataSource(server.url(0))));
        return server;
    }

    @Override
    List<List<RowChange>> ofBusiestKeys(int limit) {
        return log.ofBusiestKeys(limit);
    }
}
