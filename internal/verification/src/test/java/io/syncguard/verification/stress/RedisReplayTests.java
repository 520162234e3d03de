package io.syncguard.verification.stress;

import io.syncguard.verification.stress.StressServer.Surroundings;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Tag;

/** Reads the changes with MONITOR, which shows each command of a script. */
@Tag("verification")
class RedisReplayTests extends ReplayContract {

    private RedisRowLog log;

    @Override
    StressServer start(Surroundings surroundings) {
        StressServer server = RedisStressServer.forReplay(surroundings);
        log = new RedisRowLog(server.url(0));
        return server;
    }

    @Override
    List<List<RowChange>> ofBusiestKeys(int limit) throws IOException {
        return log.ofBusiestKeys(limit);
    }
}
