package io.syncguard.postgres;

import io.syncguard.spi.ReleaseResult;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Sends releases. */
final class ReleaseSender implements PostgresBatchSender<String, ReleaseResult> {

    private static final String ANY_GROUP = "";

    private final ReleaseStatement statement;
    private final PostgresConnections connections;

    ReleaseSender(ReleaseStatement statement, PostgresConnections connections) {
        this.statement = statement;
        this.connections = connections;
    }

    @Override
    public Object keyOf(String lockId) {
        return PostgresLockIds.keyHash(lockId);
    }

    @Override
    public Object groupOf(String lockId) {
        return ANY_GROUP;
    }

    @Override
    public ReleaseResult sendAlone(String lockId, long deadline) {
        return statement.run(connections.until(deadline), lockId);
    }

    @Override
    public List<@Nullable ReleaseResult> sendTogether(List<String> lockIds) {
        return statement.batch(connections, lockIds);
    }

    @Override
    public String doing(String lockId) {
        return "releasing a lock";
    }
}
