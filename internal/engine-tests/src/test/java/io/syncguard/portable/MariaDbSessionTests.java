package io.syncguard.portable;

import static io.syncguard.core.EngineFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.core.ManualTime;
import io.syncguard.core.StoreCalls;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.ReleaseResult;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.core.JdbcTemplate;

@ExtendWith(MariaDbKitTests.Store.class)
class MariaDbSessionTests extends PortableSessionTests {

    /** InnoDB answers from a copy that it renews only if nobody has read it for a tenth of a second. */
    static final Duration BETWEEN_LOOKS = Duration.ofMillis(200);

    private static final String WAITS =
            "SELECT trx_id FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'";

    MariaDbSessionTests() {
        super(
                new MySqlDialect(),
                "SET SESSION innodb_lock_wait_timeout = 77, idle_transaction_timeout = 88, sql_mode = 'ANSI_QUOTES'",
                "SELECT @@innodb_lock_wait_timeout AS a, @@idle_transaction_timeout AS b, @@sql_mode AS c");
    }

    /** A full disk is 1021 or 1114; the others are full memory, threads, row locks and undo logs. */
    @ParameterizedTest
    @ValueSource(ints = {1021, 1037, 1038, 1041, 1114, 1135, 1206, 1637})
    void a_server_without_resources_may_serve_a_later_request(int error) {
        JdbcTemplate jdbc = new JdbcTemplate(dataSource());
        jdbc.execute("CREATE TRIGGER refusing BEFORE INSERT ON syncguard_leases FOR EACH ROW"
                + " SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = " + error);
        try {
            assertThatExceptionOfType(LockBackendException.class)
                    .isThrownBy(() -> granted(writer()))
                    .returns(LockErrorCode.RATE_LIMITED, LockBackendException::code)
                    .withMessageContaining("no resources left");
        } finally {
            jdbc.execute("DROP TRIGGER refusing");
        }
        granted(writer());
    }

    @Test
    void a_release_goes_on_when_its_caller_is_interrupted() throws Exception {
        ManualTime time = new ManualTime();
        AcquireRequest holder = held(writer());
        try (StoreCalls process = ((PortableContractStore) store()).newBackend(dataSource(), time);
                Connection other = connection()) {
            sessions.prepare(other);
            Session transaction = sessions.on(other);
            transaction.begin(new KeyRows(PortableTables.DEFAULT, dialect).read(List.of(KEY), "FOR UPDATE"));
            FutureTask<ReleaseResult> release = new FutureTask<>(() -> process.release(holder.keyedLockId()));
            Thread caller = new Thread(release);
            caller.start();
            JdbcTemplate jdbc = new JdbcTemplate(dataSource());
            eventually()
                    .pollInterval(BETWEEN_LOOKS)
                    .until(() -> !jdbc.queryForList(WAITS).isEmpty());

            caller.interrupt();
            time.advance(Duration.ofSeconds(1));
            WakeUpLooksTests.awaitReads(time, "syncguard-requests");
            transaction.rollBack();

            assertThat(release.get()).isEqualTo(ReleaseResult.RELEASED);
        }
    }
}
