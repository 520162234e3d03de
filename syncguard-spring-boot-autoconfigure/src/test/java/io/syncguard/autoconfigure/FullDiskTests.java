package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.dao.DataAccessException;

/**
 * The table of the locks on a full disk of one megabyte. Needs a server on this machine and the right to mount; other
 * tests cover the SQLSTATE alone.
 */
@Tag("verification")
class FullDiskTests {

    private static final LockRequest ORDER = LockRequest.of("order:1");

    private final TestDatabase database = TestDatabase.withSchema();
    private final String tablespace = "disk_of_" + database.name();
    private Path disk;

    @BeforeEach
    void mountDisk() throws Exception {
        disk = Files.createTempDirectory("syncguard-disk-");
        assumeTrue(succeeds("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk.toString()), "may mount a disk");
        assumeTrue(
                catchThrowable(() ->
                                database.jdbc().execute("CREATE TABLESPACE " + tablespace + " LOCATION '" + disk + "'"))
                        == null,
                "the server can use it");
    }

    @AfterEach
    void unmountDisk() throws Exception {
        if (!database.jdbc()
                .queryForList("SELECT FROM pg_tablespace WHERE spcname = ?", tablespace)
                .isEmpty()) {
            database.jdbc().execute("DROP TABLE syncguard_locks; DROP TABLE IF EXISTS filler");
            database.jdbc().execute("DROP TABLESPACE " + tablespace);
        }
        // Lazily: the server may still have a file of it open.
        succeeds("umount", "-l", disk.toString());
        Files.delete(disk);
    }

    @Test
    void a_full_disk_is_reported_and_nothing_is_acquired_until_there_is_room() {
        database.jdbc().execute("ALTER TABLE syncguard_locks SET TABLESPACE " + tablespace);
        Applications.on(database.url()).run(application -> {
            LockManager locks = application.getBean(LockManager.class);
            fillDisk();

            assertThat(catchThrowable(() -> locks.acquire(ORDER)))
                    .isInstanceOfSatisfying(
                            LockBackendException.class,
                            ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.RATE_LIMITED))
                    .hasMessageContainingAll("'order:1'", "out of resources")
                    .cause()
                    .isInstanceOfSatisfying(
                            SQLException.class,
                            ex -> assertThat(ex.getSQLState()).isEqualTo("53100"));

            database.jdbc().execute("DROP TABLE filler");
            assertThat(locks.acquire(ORDER).fence().value())
                    .as("no fence was used up")
                    .isOne();
        });
    }

    /** Fills the disk with rows of a page each, so that no page is left. */
    private void fillDisk() {
        database.jdbc().execute("CREATE TABLE filler (text TEXT) TABLESPACE " + tablespace);
        database.jdbc().execute("ALTER TABLE filler ALTER text SET STORAGE PLAIN");
        for (int i = 0; i < 1000; i++) {
            try {
                database.jdbc().execute("INSERT INTO filler VALUES (repeat('x', 8000))");
            } catch (DataAccessException ex) {
                return;
            }
        }
        throw new AssertionError("The disk does not fill up");
    }

    private static boolean succeeds(String... command) throws IOException, InterruptedException {
        return new ProcessBuilder(command).redirectErrorStream(true).start().waitFor() == 0;
    }
}
