package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;

/** Applications on one database. None of their threads and sessions may be left after a test. */
final class StoppingApplications implements BeforeEachCallback, AfterEachCallback {

    private final LockAudit audit;
    private List<Thread> threadsBefore = List.of();

    final TestDatabase database = TestDatabase.withSchema();

    StoppingApplications() {
        audit = new LockAudit(database);
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        database.jdbc().execute("TRUNCATE lock_audit, syncguard_locks");
        threadsBefore = threads();
    }

    @Override
    public void afterEach(ExtensionContext context) {
        await().atMost(Duration.ofSeconds(10)).untilAsserted(() -> {
            assertThat(threads()).isSubsetOf(threadsBefore);
            assertThat(database.sessions()).isZero();
        });
    }

    void run(Consumer<ConfigurableApplicationContext> test, String... properties) {
        runner(properties).run(application -> test.accept(application.getSourceApplicationContext()));
    }

    ApplicationContextRunner runner(String... properties) {
        return Applications.on(database.url())
                .withPropertyValues("syncguard.shutdown-timeout=100ms")
                .withPropertyValues(properties);
    }

    /** Returns how often the lock of the key was extended. */
    int extensions(String key) {
        return (int) audit.of(key).stream()
                .filter(entry -> entry.operation().equals("UPDATE"))
                .count();
    }

    static void assertAborted(ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        LockException.class,
                        aborted -> assertThat(aborted.code()).isEqualTo(LockErrorCode.ABORTED));
    }

    private static List<Thread> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("syncguard"))
                .toList();
    }
}
