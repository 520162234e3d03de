package io.syncguard.benchmarks;

import io.syncguard.postgres.PromptSocketFactory;
import java.util.Locale;

/** Ways to listen for notifications: the lower limit for a lock that waits for them. */
enum Bare {
    /** With the driver's own socket. */
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

    /** A separate database of the partners for each way: a listener is woken by all channels of its database. */
    String url(PostgresServer server) {
        return server.newDatabase("bare_" + name().toLowerCase(Locale.ROOT)) + properties;
    }
}
