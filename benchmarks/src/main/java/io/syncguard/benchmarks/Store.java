package io.syncguard.benchmarks;

import java.io.IOException;

/** The store of the locks. Candidates on the same store are compared. */
enum Store {
    POSTGRES,
    REDIS;

    Server start() throws IOException {
        return switch (this) {
            case POSTGRES -> new PostgresServer();
            case REDIS -> new RedisServer();
        };
    }
}
