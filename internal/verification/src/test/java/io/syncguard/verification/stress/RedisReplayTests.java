package io.syncguard.verification.stress;

import io.syncguard.verification.stress.StressServer.Surroundings;
import java.io.IOException;
import java.util.List;

/** By MONITOR, which shows each command of a script. */
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
