package io.syncguard.embedded;

import java.io.IOException;
import java.util.List;

/** Starts a database server that outlives this process. */
interface DatabaseStarter {

    SharedServer server();

    /** Starts the server in a new directory, and waits until it answers. */
    void start() throws IOException;

    PidFile pidFile() throws IOException;

    /** The JDBC URL of the server's database for applications. */
    String url();

    /** An administrator, without a password. */
    String user();

    /** The parameter of the URL for a short time to connect. */
    String connectTimeout();

    /** Shows the other processes, for as long as the connection is open, that this one uses the server. */
    List<String> enter();

    /** Whether the connection is the only one that has entered. */
    String isLast();
}
