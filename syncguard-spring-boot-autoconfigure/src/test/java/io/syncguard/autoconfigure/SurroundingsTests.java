package io.syncguard.autoconfigure;

import static io.syncguard.autoconfigure.StockDatabase.inTransaction;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.syncguard.CommitGuard;
import io.syncguard.LockHandle;
import io.syncguard.LockLostException;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.testing.UsualBuild;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.context.ApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;

/** A round of everything with each parameter of the driver's URL, and with each setting that a role may have. */
@Timeout(60)
class SurroundingsTests {

    private static final LockRequest ORDER = LockRequest.of("order:1").waitTime(Duration.ofSeconds(30));

    private static final String[] PARAMETERS = {
        "autosave=always",
        "preferQueryMode=simple",
        "readOnlyMode=always",
        "adaptiveFetch=true&defaultRowFetchSize=1&adaptiveFetchMaximum=2",
        "allowEncodingChanges=true",
        "ApplicationName=shop",
        "assumeMinServerVersion=14",
        "autosave=conservative",
        "binaryTransfer=false",
        "binaryTransferDisable=1043,25,20",
        "cancelSignalTimeout=1",
        "cleanupSavepoints=true&autosave=always",
        "connectTimeout=1",
        "databaseMetadataCacheFields=0",
        "defaultRowFetchSize=1",
        "disableColumnSanitiser=true",
        "escapeSyntaxCallMode=callIfNoReturn",
        "gssEncMode=disable",
        "hideUnprivilegedObjects=true",
        "loadBalanceHosts=true",
        "logServerErrorDetail=false",
        "loginTimeout=5",
        "maxResultBuffer=1M",
        "options=-c%20work_mem=64kB",
        "preferQueryMode=extendedForPrepared",
        "preferQueryMode=extendedCacheEverything",
        "prepareThreshold=1",
        "prepareThreshold=0",
        "prepareThreshold=-1",
        "preparedStatementCacheQueries=0",
        "preparedStatementCacheSizeMiB=0",
        "quoteReturningIdentifiers=false",
        "reWriteBatchedInserts=true",
        "receiveBufferSize=1024&sendBufferSize=1024",
        "socketTimeout=1",
        "sslmode=prefer",
        "stringtype=unspecified",
        "targetServerType=primary",
        "tcpKeepAlive=true&tcpNoDelay=false",
        "unknownLength=1"
    };

    private static final String[] SETTINGS = {
        "default_transaction_isolation = 'serializable'",
        "search_path = public, pg_catalog",
        "statement_timeout = '10s'",
        "array_nulls = off",
        "backslash_quote = off",
        "bytea_output = 'escape'",
        "check_function_bodies = off",
        "client_min_messages = 'debug1'",
        "commit_delay = 100",
        "DateStyle = 'SQL, DMY'",
        "default_statistics_target = 1",
        "default_transaction_deferrable = on",
        "enable_bitmapscan = off",
        "enable_indexonlyscan = off",
        "enable_indexscan = off",
        "enable_seqscan = off",
        "escape_string_warning = off",
        "exit_on_error = off",
        "extra_float_digits = 0",
        "force_parallel_mode = on",
        "debug_parallel_query = on",
        "from_collapse_limit = 1",
        "geqo = off",
        "gin_fuzzy_search_limit = 1",
        "IntervalStyle = 'sql_standard'",
        "jit = on",
        "jit_above_cost = 0",
        "join_collapse_limit = 1",
        "lc_messages = 'C'",
        "lock_timeout = '10s'",
        "idle_in_transaction_session_timeout = '10s'",
        "idle_session_timeout = '10s'",
        "max_parallel_workers_per_gather = 0",
        "parallel_setup_cost = 0",
        "password_encryption = 'md5'",
        "plan_cache_mode = 'force_custom_plan'",
        "plan_cache_mode = 'force_generic_plan'",
        "quote_all_identifiers = on",
        "row_security = off",
        "standard_conforming_strings = off",
        "synchronous_commit = off",
        "tcp_keepalives_idle = 1",
        "temp_buffers = 100",
        "TimeZone = 'Asia/Kathmandu'",
        "timezone_abbreviations = 'India'",
        "transaction_timeout = '10s'",
        "transform_null_equals = on",
        "work_mem = '64kB'",
        "xmlbinary = 'hex'"
    };

    @RegisterExtension
    private static final GuardedCommits commits = new GuardedCommits();

    private static String role;

    @BeforeAll
    static void makeRole() {
        role = commits.database.newRole();
        commits.database.jdbc().execute("GRANT ALL ON ALL TABLES IN SCHEMA public TO " + role);
    }

    static Stream<String> parameters() {
        return UsualBuild.first(3, Stream.of(PARAMETERS));
    }

    static Stream<String> settings() {
        return UsualBuild.first(3, Stream.of(SETTINGS));
    }

    @ParameterizedTest
    @MethodSource("parameters")
    void a_round_works_with_a_parameter_of_the_url(String parameter) {
        Applications.on(commits.database.url() + "&" + parameter)
                .withPropertyValues("syncguard.shutdown-timeout=100ms")
                .run(SurroundingsTests::round);
    }

    @ParameterizedTest
    @MethodSource("settings")
    void a_round_works_with_a_setting_of_the_role(String setting) {
        assumeTrue(
                !commits.database
                        .jdbc()
                        .queryForList("SELECT FROM pg_settings WHERE lower(name) = lower(?)", setting.split(" ")[0])
                        .isEmpty(),
                "this version of the server has the setting");
        commits.database.jdbc().execute("ALTER ROLE " + role + " RESET ALL");
        commits.database.jdbc().execute("ALTER ROLE " + role + " SET " + setting);
        try {
            commits.runner(TestDatabase.loginOf(commits.database.url(), role))
                    .withPropertyValues("syncguard.postgres.schema-management=none")
                    .run(SurroundingsTests::round);
        } finally {
            commits.database.jdbc().execute("ALTER ROLE " + role + " RESET ALL");
        }
    }

    private static void round(ApplicationContext application) {
        LockManager locks = application.getBean(LockManager.class);
        LockHandle first = locks.acquire(ORDER);
        assertThat(locks.tryAcquire(ORDER)).as("contention").isNull();
        CompletableFuture<LockHandle> waiter = CompletableFuture.supplyAsync(() -> locks.acquire(ORDER));
        await().atMost(Duration.ofSeconds(10)).until(() -> commits.isAwaited("order:1"));
        assertThat(first.extend(Duration.ofSeconds(20))).isTrue();
        assertThat(first.release()).isTrue();
        LockHandle second = waiter.orTimeout(10, TimeUnit.SECONDS).join();
        assertThat(second.fence()).isGreaterThan(first.fence());
        assertThat(second.release()).isTrue();

        LockTemplate template = application.getBean(LockTemplate.class);
        LockRequest guarded = ORDER.commitGuard(CommitGuard.REQUIRED);
        template.executeWithoutResult(guarded, lock -> inTransaction(application, SurroundingsTests::add));
        assertThat(commits.database.amount()).isEqualTo(1);
        assertThatThrownBy(() -> template.executeWithoutResult(
                        guarded,
                        lock -> inTransaction(application, jdbc -> {
                            add(jdbc);
                            commits.takeOver(guarded);
                        })))
                .isInstanceOf(LockLostException.class);
        assertThat(commits.database.amount()).as("after a take-over").isEqualTo(1);
    }

    private static void add(JdbcTemplate jdbc) {
        jdbc.update("UPDATE stock SET amount = amount + 1 WHERE item = 'apple'");
    }
}
