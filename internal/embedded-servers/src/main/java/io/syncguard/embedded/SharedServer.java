package io.syncguard.embedded;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * What the processes of one user that share a server agree on: its name and its port.
 *
 * @param name distinguishes the server from others, such as {@code orders-postgres}
 * @param port a port of the loopback interface; 0 for a free one, which no other process finds
 * @param remedy what to set when something else answers on the port; part of the exception's message
 */
public record SharedServer(String name, int port, String remedy) {

    SharedServer withPort(int other) {
        return new SharedServer(name, other, remedy);
    }

    /** The directory of this server's files, one for each user: another user's files could not be written. */
    Path home() throws IOException {
        Path temporary = Path.of(System.getProperty("java.io.tmpdir"));
        return Files.createDirectories(temporary.resolve(name + "-" + System.getProperty("user.name")))
                .toRealPath();
    }

    /**
     * A file that a process locks while it joins or leaves. Without it, two processes that start at once would both
     * start a server, and one that leaves could stop the server that another has just found. The end of a process ends
     * its lock.
     */
    FileChannel openTurn() throws IOException {
        return FileChannel.open(home().resolve("turn"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    }
}
