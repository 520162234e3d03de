package io.syncguard.benchmarks;

import io.syncguard.postgres.PromptSocketFactory;
import java.util.Locale;

/** Ways to listen for notifications: the lower limit for a lock that waits for them. */
enum Bare {
    /** As the driver comes. */
    DRIVER("bare NOTIFY", ""),

    /** On the socket with which SyncGuard listens, without the driver's pause after each notification. */
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

    /** The database of the partners, a separate one for each way: all channels of a database wake a listener. */
    String url(PostgresServer server) {
        return server.newDatabase("bare_" + name().toLowerCase(Locale.ROOT)) + properties;
    }
}
