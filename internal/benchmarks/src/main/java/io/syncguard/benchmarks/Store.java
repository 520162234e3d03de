package io.syncguard.benchmarks;

import java.io.IOException;

/** The store of the locks. Candidates on the same store are compared. */
enum Store {
    POSTGRES("PostgreSQL"),
    REDIS("Redis"),
    MARIADB("MariaDB");

    private final String label;

    Store(String label) {
        this.label = label;
    }

    String label() {
        return label;
    }

    /** The candidate with which charts compare the others, because it is often used. */
    Peer reference() {
        return switch (this) {
            case POSTGRES -> Peer.SHEDLOCK;
            case REDIS -> Peer.REDISSON;
            case MARIADB -> Peer.SHEDLOCK_MARIADB;
        };
    }

    Server start() throws IOException {
        return switch (this) {
            case POSTGRES -> new PostgresServer();
            case REDIS -> new RedisServer();
            case MARIADB -> new MariaDbServer();
        };
    }
}
