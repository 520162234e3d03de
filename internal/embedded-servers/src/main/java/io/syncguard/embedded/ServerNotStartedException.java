package io.syncguard.embedded;

import org.jspecify.annotations.Nullable;

/** A server that does not start, or a port that is taken. The message says why, and {@link #remedy} what to do. */
public final class ServerNotStartedException extends RuntimeException {

    private static final long serialVersionUID = 1;

    private final String remedy;

    ServerNotStartedException(String message, String remedy, @Nullable Throwable cause) {
        super(message, cause);
        this.remedy = remedy;
    }

    /** Returns the error for a server whose port another program has. */
    public static ServerNotStartedException portTaken(String server, SharedServer shared) {
        return new ServerNotStartedException(
                "Port " + shared.port() + " of the " + server + " is taken by another program, or by the " + server
                        + " of another user",
                shared.remedy(),
                null);
    }

    /** The next step, as the rest of a sentence. */
    public String remedy() {
        return remedy;
    }
}
