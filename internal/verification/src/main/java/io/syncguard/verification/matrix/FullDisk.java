package io.syncguard.verification.matrix;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.syncguard.embedded.OwnPostgres;
import io.syncguard.embedded.RunDirectory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.Random;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;

/** A small disk with the table of the locks, which the fault fills for a while. Needs Linux and the right to mount. */
final class FullDisk implements AutoCloseable {

    /** PostgreSQL's SQLSTATE of a full disk. */
    private static final String DISK_FULL = "53100";

    private final OwnPostgres server;
    private final JdbcTemplate jdbc;
    private final Path disk = RunDirectory.newDirectory("disk");

    /** Skips the campaign where this user may not mount a disk. */
    FullDisk(OwnPostgres server) {
        this.server = server;
        this.jdbc = server.jdbc();
        assumeTrue(succeeds("mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", disk.toString()), "may mount a disk");
        jdbc.execute("CREATE TABLESPACE small_disk LOCATION '" + disk + "'");
        jdbc.execute("GRANT CREATE ON TABLESPACE small_disk TO " + PostgresSite.USER);
    }

    /** Fills the disk for a while. The first call moves the table to the disk. */
    void fill(Random random) {
        jdbc.execute("ALTER TABLE syncguard_locks SET TABLESPACE small_disk");
        jdbc.execute("CREATE TABLE filler (text TEXT) TABLESPACE small_disk");
        jdbc.execute("ALTER TABLE filler ALTER text SET STORAGE PLAIN");
        try {
            // Without an old snapshot, dead row versions would leave room on the pages that the table has.
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
            if (NestedExceptionUtils.getMostSpecificCause(ex) instanceof SQLException full
                    && DISK_FULL.equals(full.getSQLState())) {
                return;
            }
            throw ex;
        }
        throw new IllegalStateException("The disk does not fill up");
    }

    @Override
    public void close() throws IOException {
        // Lazy, because the server may still have a file of the disk open.
        if (!succeeds("umount", "-l", disk.toString())) {
            throw new IllegalStateException(disk + " is still mounted");
        }
        Files.delete(disk);
    }

    private static boolean succeeds(String... command) {
        try {
            return new ProcessBuilder(command).redirectErrorStream(true).start().waitFor() == 0;
        } catch (IOException ex) {
            // The program is not installed.
            return false;
        } catch (InterruptedException ex) {
            throw new IllegalStateException(ex);
        }
    }
}
