package io.syncguard.embedded;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveOutputStream;
import org.tukaani.xz.LZMA2Options;
import org.tukaani.xz.XZOutputStream;

/**
 * The build of PostgreSQL to start: the programs in the directory of the environment variable {@value #DIRECTORY}, such
 * as {@code /usr/lib/postgresql/15/bin}, or the embedded ones.
 */
public final class PostgresBinaries {

    private static final String DIRECTORY = "SYNCGUARD_TEST_POSTGRES_BIN";

    private PostgresBinaries() {}

    /** Whether the environment variable names a directory. */
    public static boolean areConfigured() {
        return System.getenv(DIRECTORY) != null;
    }

    /** The builder of a server that accepts connections only from this machine. */
    public static EmbeddedPostgres.Builder builder() {
        return areConfigured() ? builder(Path.of(System.getenv(DIRECTORY))) : local();
    }

    /** The same for a server of the programs in this directory. */
    public static EmbeddedPostgres.Builder builder(Path directory) {
        return local().setPgBinaryResolver((system, machine) -> archive(directory));
    }

    private static EmbeddedPostgres.Builder local() {
        return EmbeddedPostgres.builder()
                // The default is one directory for all users, where the first one's files may be closed to others.
                .setOverrideWorkingDirectory(
                        UserDirectory.temporary().resolve("binaries").toFile())
                // Both: a JVM may prefer IPv6 for the name of this machine.
                .setServerConfig("listen_addresses", "127.0.0.1,::1")
                // The default is a directory of all users, which may be closed to this one.
                .setServerConfig("unix_socket_directories", "");
    }

    /**
     * An archive with a script for each program, which runs the program in its place: a moved program would not find
     * its other files.
     */
    private static InputStream archive(Path directory) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (OutputStream compressed = new XZOutputStream(bytes, new LZMA2Options());
                TarArchiveOutputStream archive = new TarArchiveOutputStream(compressed)) {
            for (String name : List.of("initdb", "pg_ctl", "postgres")) {
                Path program = directory.resolve(name);
                if (!Files.isExecutable(program)) {
                    throw new IOException(program + " is no program; " + DIRECTORY + " names their directory");
                }
                byte[] script = ("#!/bin/sh\nexec '" + program + "' \"$@\"\n").getBytes(StandardCharsets.UTF_8);
                TarArchiveEntry entry = new TarArchiveEntry("bin/" + name);
                entry.setMode(0755);
                entry.setSize(script.length);
                archive.putArchiveEntry(entry);
                archive.write(script);
                archive.closeArchiveEntry();
            }
        }
        return new ByteArrayInputStream(bytes.toByteArray());
    }
}
