package io.syncguard.benchmarks;

import io.syncguard.postgres.PromptSocketFactory;
import java.util.Locale;

/** Ways to listen for notifications: the floor of what waits for them. */
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

    /** Where the partners meet: each has a database of its own, because a listener is woken by all channels of one. */
    String url(PostgresServer server) {
        return server.newDatabase("bare_" + name().toLowerCase(Locale.ROOT)) + properties;
    }
}
