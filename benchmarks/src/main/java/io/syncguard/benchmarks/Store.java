package io.syncguard.benchmarks;

import java.io.IOException;

/** Where locks are kept. Those who keep them in the same are measured side by side. */
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
