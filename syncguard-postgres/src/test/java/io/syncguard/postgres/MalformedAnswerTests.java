package io.syncguard.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.autoconfigure.TestDatabase;
import io.syncguard.core.LockEngine;
import java.time.Duration;
import java.util.function.Consumer;
import org.assertj.core.api.AbstractThrowableAssert;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The functions in the database were replaced by others with impossible answers: the caller gets an internal error, and
 * no lock is granted or lost.
 */
class MalformedAnswerTests {

    private static final LockRequest ORDER = LockRequest.of("order:1");

    private static final String ACQUIRE = "syncguard_locks_acquire";
    private static final String ACQUIRE_FREE = "syncguard_locks_acquire_free";
    private static final String EXTEND = "syncguard_locks_extend";
    private static final String ROTATE = "syncguard_locks_rotate";
    private static final String RELEASE = "syncguard_locks_hand_over";
    private static final String RELEASE_PARAMETERS = "(TEXT, TEXT, TEXT, BOOLEAN, BIGINT, TEXT, BIGINT[])";
    private static final String RELEASE_UNAWAITED = "syncguard_locks_delete_lease";
    private static final String RELEASE_ALL = "syncguard_locks_release_all";

    private static TestDatabase database;

    @BeforeAll
    static void makeSchema() {
        database = TestDatabase.withSchema();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SELECT ARRAY[-1, 0, 0]::bigint[]",
                "SELECT ARRAY[900000000000001, 0, 0]::bigint[]",
                "SELECT ARRAY[1, 0]::bigint[]",
                "SELECT ARRAY[1, 0, NULL]::bigint[]"
            })
    void a_grant_of_a_free_key_that_cannot_be(String answer) {
        run(locks -> {
            replace(ACQUIRE_FREE, "TEXT, TEXT, BIGINT, TEXT", "BIGINT[]", answer);
            try {
                assertMakesNoSense(() -> locks.acquire(ORDER)).hasMessageContaining("'order:1'");
            } finally {
                restore(ACQUIRE_FREE);
            }
            assertThat(locks.acquire(ORDER).release()).isTrue();
        });
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SELECT -1::bigint, 0::bigint, 0::bigint, 0::bigint, NULL::text, NULL::bigint, false, NULL::boolean, NULL::bigint",
                "SELECT 900000000000001, 0::bigint, 0::bigint, 0::bigint, NULL::text, NULL::bigint, false, NULL::boolean, NULL::bigint",
                "SELECT 1::bigint, 0::bigint, 0::bigint, 0::bigint, NULL::text, NULL::bigint, false, NULL::boolean, NULL::bigint WHERE false"
            })
    void a_grant_that_cannot_be(String answer) {
        run(locks -> {
            replace(
                    ACQUIRE,
                    "TEXT, BOOLEAN, INTEGER, TEXT, BIGINT, TEXT, BOOLEAN, BIGINT, BIGINT, BOOLEAN, TEXT, TEXT, BIGINT",
                    """
                    TABLE (granted_fence BIGINT, granted_at_ms BIGINT, granted_until_ms BIGINT, time_left_ms BIGINT,
                           held_by TEXT, held_since_ms BIGINT, held_by_others BOOLEAN, held_lapsed BOOLEAN,
                           request_position BIGINT)
                    """,
                    answer);
            try {
                assertMakesNoSense(() -> locks.acquire(ORDER.shared())).hasMessageContaining("'order:1'");
            } finally {
                restore(ACQUIRE);
            }
            assertThat(locks.acquire(ORDER.shared()).release()).isTrue();
        });
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SELECT 'perhaps', 0::bigint",
                "SELECT NULL::text, 0::bigint",
                "SELECT 'extended', 0::bigint WHERE false"
            })
    void an_extension_that_cannot_be_and_the_lock_is_held_as_before(String answer) {
        run(locks -> {
            LockHandle lock = locks.acquire(ORDER);
            replace(EXTEND, "TEXT[], BIGINT[]", "TABLE (outcome TEXT, extended_until_ms BIGINT)", answer);
            try {
                assertMakesNoSense(() -> lock.extend(Duration.ofSeconds(20))).hasMessageContaining("'order:1'");
            } finally {
                restore(EXTEND);
            }
            assertThat(lock.extend(Duration.ofSeconds(20))).isTrue();
            assertThat(lock.release()).isTrue();
        });
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SELECT 'perhaps', 0::bigint, 2::bigint",
                "SELECT NULL::text, 0::bigint, 2::bigint",
                "SELECT 'rotated', 0::bigint, 0::bigint"
            })
    void a_fence_that_cannot_be_and_the_lock_is_held_with_the_one_it_had(String answer) {
        run(locks -> {
            LockHandle lock = locks.acquire(ORDER);
            long fence = lock.fence().value();
            replace(
                    ROTATE,
                    "TEXT, BIGINT",
                    "TABLE (outcome TEXT, rotated_until_ms BIGINT, rotated_fence BIGINT)",
                    answer);
            try {
                assertMakesNoSense(lock::rotateFence).hasMessageContaining("'order:1'");
            } finally {
                restore(ROTATE);
            }
            assertThat(lock.fence().value()).isEqualTo(fence);
            assertThat(lock.rotateFence().value()).isEqualTo(fence + 1);
            assertThat(lock.release()).isTrue();
        });
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SELECT 'perhaps', NULL::bigint[]",
                "SELECT NULL::text, NULL::bigint[]",
                "SELECT 'released', ARRAY[1]::bigint[]",
                "SELECT 'released', ARRAY[1, -1, 0, 0]::bigint[]",
            })
    void a_release_that_cannot_be_is_sent_again(String answer) {
        run(locks -> {
            LockHandle lock = locks.acquire(ORDER);
            database.jdbc().execute("ALTER ROUTINE " + RELEASE + RELEASE_PARAMETERS + " RENAME TO away_hand_over");
            // The background would release it by another function.
            database.jdbc().execute("ALTER ROUTINE " + RELEASE_ALL + " RENAME TO away_all");
            database.jdbc().execute("CREATE PROCEDURE " + RELEASE + """
                            (TEXT, TEXT, TEXT, BOOLEAN, BIGINT, INOUT outcome TEXT, INOUT handed_over BIGINT[])
                            LANGUAGE sql AS $$ %s $$
                            """.formatted(answer));
            replace(RELEASE_UNAWAITED, "TEXT, TEXT, BOOLEAN", "BOOLEAN", "SELECT false");
            try {
                assertMakesNoSense(() -> locks.release("unknown---------------"));
                assertThat(lock.release()).isTrue();
                assertThat(database.lockedKeys()).containsExactly("order:1");
            } finally {
                database.jdbc().execute("DROP ROUTINE " + RELEASE + RELEASE_PARAMETERS);
                database.jdbc().execute("ALTER ROUTINE away_hand_over RENAME TO " + RELEASE);
                restore(RELEASE_UNAWAITED);
                database.jdbc().execute("ALTER ROUTINE away_all RENAME TO " + RELEASE_ALL);
            }
            await().atMost(Duration.ofSeconds(10))
                    .until(() -> database.lockedKeys().isEmpty());
            assertThat(lock.state()).isEqualTo(LockHandle.State.RELEASED);
        });
    }

    @Test
    void a_row_that_cannot_be() {
        run(locks -> {
            LockHandle lock = locks.acquire(ORDER);
            database.jdbc().update("UPDATE syncguard_locks SET fence = 'many'");

            assertMakesNoSense(() -> locks.admin().lookup("order:1")).hasMessageContaining("'order:1'");
            assertMakesNoSense(() -> locks.admin().lookupById(lock.lockId()));

            assertThat(lock.release()).isTrue();
        });
    }

    private static AbstractThrowableAssert<?, ?> assertMakesNoSense(ThrowingCallable operation) {
        return assertThat(catchThrowable(operation))
                .isInstanceOfSatisfying(
                        LockBackendException.class, ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.INTERNAL))
                .hasMessageContainingAll("makes no sense", "R__syncguard_schema.sql")
                .hasCauseInstanceOf(Exception.class);
    }

    private static void replace(String function, String parameters, String returns, String answer) {
        away(function);
        database.jdbc()
                .execute("CREATE FUNCTION " + function + "(" + parameters + ") RETURNS " + returns
                        + " LANGUAGE sql AS $$ " + answer + " $$");
    }

    private static void away(String routine) {
        database.jdbc().execute("ALTER ROUTINE " + routine + " RENAME TO away");
    }

    private static void restore(String routine) {
        database.jdbc().execute("DROP ROUTINE " + routine);
        database.jdbc().execute("ALTER ROUTINE away RENAME TO " + routine);
    }

    private static void run(Consumer<LockManager> test) {
        try (LockEngine locks =
                PooledPostgres.engineOnReady(database.url(), Duration.ofSeconds(5), Duration.ofSeconds(5))) {
            test.accept(locks);
        }
    }
}
