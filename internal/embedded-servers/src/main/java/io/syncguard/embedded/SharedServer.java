package io.syncguard.embedded;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.util.FileSystemUtils;

/**
 * The name and the port of a server that several processes of one user share. Its files are in a directory that only
 * this user can write. So the id of its process in there is trustworthy, unlike what answers on the port.
 *
 * @param name distinguishes the server from others, such as {@code orders-postgres}
 * @param port a port of the loopback interface; 0 for a free one, which no other process finds
 * @param remedy what to do if the server does not start; part of the exception
 */
public record SharedServer(String name, int port, String remedy) {

    private static final Logger LOG = LoggerFactory.getLogger(SharedServer.class);

    private static final String DIRECTORY = "server-";

    /** The same server on a free port, if none was given. */
    SharedServer withPort() {
        return port == 0 ? withPort(OwnRedis.freePort()) : this;
    }

    private SharedServer withPort(int other) {
        return new SharedServer(name, other, remedy);
    }

    /** The directory of all servers with this name. */
    Path home() throws IOException {
        return Files.createDirectories(UserDirectory.temporary().resolve(name));
    }

    /** The directory of the server on this port. */
    Path directory() throws IOException {
        return home().resolve(DIRECTORY + port);
    }

    /** The file for the output of the server. */
    Path log() throws IOException {
        return directory().resolve("server.log");
    }

    /** The other servers with this name. Some may have ended. */
    List<SharedServer> others() throws IOException {
        List<SharedServer> others = new ArrayList<>();
        try (DirectoryStream<Path> directories = Files.newDirectoryStream(home(), DIRECTORY + "*")) {
            for (Path directory : directories) {
                int other = Integer.parseInt(directory.getFileName().toString().substring(DIRECTORY.length()));
                if (other != port) {
                    others.add(withPort(other));
                }
            }
        }
        return others;
    }

    /**
     * Creates the directory for a server on the port. Removes what an ended server has left in it.
     *
     * @throws ServerNotStartedException if another program has the port
     */
    void createDirectory(String product) throws IOException {
        if (!isPortFree()) {
            throw ServerNotStartedException.portTaken(product, this);
        }
        removeDirectory();
        Files.createDirectory(directory());
    }

    void removeDirectory() throws IOException {
        if (FileSystemUtils.deleteRecursively(directory())) {
            LOG.info("Removed {}", directory());
        }
    }

    private boolean isPortFree() {
        try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getByName("127.0.0.1"))) {
            return socket.isBound();
        } catch (IOException ex) {
            return false;
        }
    }

    /** Says why the server has not started. */
    ServerNotStartedException notStarted(String server, @Nullable Exception cause) throws IOException {
        if (!canRunPrograms()) {
            return new ServerNotStartedException(
                    server + " does not start: the system runs no programs in " + home() + " (mounted with noexec)",
                    "let -Djava.io.tmpdir=DIRECTORY name a directory in which programs may run, or " + remedy,
                    cause);
        }
        return new ServerNotStartedException(
                server + " does not start. Its log " + log() + " ends with: " + lastLine(), remedy, cause);
    }

    private boolean canRunPrograms() throws IOException {
        Path program = Files.writeString(home().resolve("program"), "#!/bin/sh\n");
        try {
            if (!System.getProperty("os.name").startsWith("Windows")) {
                program.toFile().setExecutable(true);
                new ProcessBuilder(program.toString()).start();
            }
            return true;
        } catch (IOException ex) {
            return false;
        } finally {
            Files.delete(program);
        }
    }

    private String lastLine() throws IOException {
        List<String> lines = Files.exists(log()) ? Files.readAllLines(log()) : List.of();
        return lines.isEmpty() ? "(nothing)" : lines.get(lines.size() - 1);
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
