package io.syncguard.benchmarks;

import io.syncguard.postgres.PromptSocketFactory;
import java.util.Locale;

/** Ways to listen for notifications. They are the lower limit for a lock that waits for notifications. */
enum Bare {
    /** Listens with the driver's own socket. */
    DRIVER("bare NOTIFY", ""),

    /** Listens with the socket of SyncGuard, which avoids the driver's pause after each notification. */
    PROMPT("bare NOTIFY, prompt socket", "&socketFactory=" + PromptSocketFactory.class.getName());

    private final String label;
    private final String properties;

    Bare(String label, String properties) {
        this.label = label;
        this.properties = properties;
    }

    String label() {
        return label;
    }

    /** The URL of a separate database for each way, because all channels of a database wake its listeners. */
    String url(PostgresServer server) {
        return server.newDatabase("bare_" + name().toLowerCase(Locale.ROOT)) + properties;
    }
}
