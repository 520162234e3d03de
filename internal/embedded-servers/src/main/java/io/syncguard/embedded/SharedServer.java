package io.syncguard.embedded;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * The name and the port of a server that several processes of one user share.
 *
 * @param name distinguishes the server from others, such as {@code orders-postgres}
 * @param port a port of the loopback interface; 0 for a free one, which no other process finds
 * @param remedy the advice if another program answers on the port; part of the exception's message
 */
public record SharedServer(String name, int port, String remedy) {

    SharedServer withPort(int other) {
        return new SharedServer(name, other, remedy);
    }

    /** The directory of this server's files. Each user has one, because a user cannot write the files of another. */
    Path home() throws IOException {
        Path temporary = Path.of(System.getProperty("java.io.tmpdir"));
        return Files.createDirectories(temporary.resolve(name + "-" + System.getProperty("user.name")))
                .toRealPath();
    }

    /**
     * Opens the file that a process locks while it joins or leaves. Without this lock, two processes that start at once
     * would both start a server, and a process that leaves could stop the server that another has just found. The end
     * of a process ends its lock.
     */
    FileChannel openTurn() throws IOException {
        return FileChannel.open(home().resolve("turn"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    }
}
