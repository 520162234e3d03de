package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockLostException;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.LockSetupException;
import java.io.IOException;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.env.PropertiesPropertySourceLoader;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.io.ByteArrayResource;

/** Which failures are shown without a stack trace, and how. {@link FailedStart} compares whole texts. */
class LockSetupFailureAnalyzerTests {

    private final StandardEnvironment environment = new StandardEnvironment();
    private final LockSetupFailureAnalyzer analyzer = new LockSetupFailureAnalyzer(environment);

    /** Their stack trace shows which code of the application has called. */
    @ParameterizedTest
    @MethodSource("errorsOfLockOperations")
    void a_lock_operation_that_fails_during_the_start_keeps_its_stack_trace(LockException error) {
        assertThat(analyzer.analyze(new IllegalStateException("A runner failed", error)))
                .isNull();
    }

    static Stream<LockException> errorsOfLockOperations() {
        return Stream.of(
                new LockNotAcquiredException("order:42", "Lock 'order:42' is held by another. Try again later"),
                new LockLostException("order:42", "Lock 'order:42' was lost. Check what was done"),
                new LockBackendException(LockErrorCode.SERVICE_UNAVAILABLE, "Failed. Try again later", null),
                new LockException(LockErrorCode.INVALID_ARGUMENT, "A key must not be empty. Use another"));
    }

    @Test
    void the_line_of_the_file_that_sets_a_wrong_property_is_named() throws IOException {
        new PropertiesPropertySourceLoader()
                .load(
                        "file",
                        new ByteArrayResource("a=b\nsyncguard.redis.shards=0".getBytes(), "application.properties"))
                .forEach(environment.getPropertySources()::addFirst);

        assertThat(analyzer.analyze(LockSetupException.invalid("syncguard.redis.shards is 0", "Correct it")))
                .satisfies(
                        analysis -> assertThat(analysis.getDescription()).contains("application.properties", "2:24"));
    }

    @Test
    void where_a_mistake_is_comes_before_the_problem_and_the_next_steps_stay() {
        LockSetupException located =
                LockSetupException.at("@X on Y", LockSetupException.invalid("it is wrong", "Correct it", "Remove it"));

        assertThat(located.problem()).isEqualTo("@X on Y: it is wrong");
        assertThat(located.nextSteps()).isEqualTo(List.of("Correct it", "Remove it"));
        assertThat(located).hasMessage("@X on Y: it is wrong. Correct it; or remove it");
    }
}
