package io.syncguard.verification.matrix;

import io.syncguard.embedded.OwnPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;

/** A small disk with the table of the locks, which is filled up for a while. Needs Linux, and the right to mount. */
final class FullDisk implements AutoCloseable {

    private final OwnPostgres server;
    private final JdbcTemplate jdbc;
    private final Path disk = Directories.newTemporary("disk");
    private final boolean isMounted;

    FullDisk(OwnPostgres server) {
        this.server = server;
        this.jdbc = server.jdbc();
        this.isMounted = succeeds("mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", disk.toString());
        if (isMounted) {
            jdbc.execute("CREATE TABLESPACE small_disk LOCATION '" + disk + "'");
            jdbc.execute("GRANT CREATE ON TABLESPACE small_disk TO " + PostgresSite.USER);
        }
    }

    /** Whether this user may mount a disk. */
    static boolean isPossible() {
        return "root".equals(System.getProperty("user.name")) && Files.isExecutable(Path.of("/usr/bin/mount"));
    }

    /** The first time, the table is moved to the disk. */
    void fill(Random random) {
        jdbc.execute("ALTER TABLE syncguard_locks SET TABLESPACE small_disk");
        jdbc.execute("CREATE TABLE filler (text TEXT) TABLESPACE small_disk");
        jdbc.execute("ALTER TABLE filler ALTER text SET STORAGE PLAIN");
        try {
            // Otherwise the versions of rows that are gone leave room on the pages that the table has.
            OldSnapshots.during(server, () -> {
                assertFull();
                LinkFaults.pause(random, 300, 1500);
            });
        } finally {
            jdbc.execute("DROP TABLE filler");
        }
    }

    private void assertFull() {
        try {
            jdbc.execute("INSERT INTO filler SELECT repeat('x', 8000) FROM generate_series(1, 10000)");
        } catch (DataAccessException ex) {
            return;
        }
        throw new IllegalStateException("The disk does not fill up");
    }

    @Override
    public void close() {
        // Lazily: the server may still have a file of it open.
        if (isMounted && !succeeds("umount", "-l", disk.toString())) {
            throw new IllegalStateException(disk + " is still mounted");
        }
    }

    private static boolean succeeds(String... command) {
        try {
            return new ProcessBuilder(command).redirectErrorStream(true).start().waitFor() == 0;
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        } catch (InterruptedException ex) {
            throw new IllegalStateException(ex);
        }
    }
}
