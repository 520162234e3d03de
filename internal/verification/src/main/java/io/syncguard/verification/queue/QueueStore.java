package io.syncguard.verification.queue;

import java.util.List;
import java.util.function.Supplier;

/** The stores on which the tests of queues run. */
public enum QueueStore {
    POSTGRES(PostgresQueueServer::new),
    REDIS(RedisQueueServer::new),
    MARIADB(MariaDbQueueServer::new);

    private final Supplier<QueueServer> server;

    QueueStore(Supplier<QueueServer> server) {
        this.server = server;
    }

    /** The stores of a usual build, or all in the profile "verification". */
    public static List<QueueStore> ofBuild() {
        return Boolean.getBoolean("syncguard.verification") ? List.of(values()) : List.of(POSTGRES);
    }

    /** Starts a server, or creates a database. */
    public QueueServer start() {
        return server.get();
    }
}
