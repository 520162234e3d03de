package io.syncguard.verification.inputs;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockLimits;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;

/** An answer that no document names is found, and a documented one is not. */
class AnswersTests {

    private final Answers answers = new Answers();

    @Test
    void a_documented_answer_is_none() {
        answers.call("a", true, () -> "done");
        answers.call("a", false, () -> LockLimits.key(""));
        answers.call("a", null, () -> LockLimits.key(""));
        answers.call("a", true, refusal(LockErrorCode.LOST));

        assertThat(answers.violations()).isEmpty();
        assertThat(answers.total()).isEqualTo(4);
    }

    @Test
    void an_illegal_value_that_is_accepted_is_one() {
        answers.call("a", false, () -> "done");

        assertThat(answers.violations()).singleElement().asString().contains("accepts an illegal value");
    }

    @Test
    void a_legal_value_that_is_refused_is_one() {
        answers.call("a", true, () -> LockLimits.key(""));

        assertThat(answers.violations()).singleElement().asString().contains("refuses a legal value");
    }

    @Test
    void an_illegal_value_that_the_server_refuses_is_one() {
        answers.call("a", false, () -> {
            throw new LockException(LockErrorCode.INVALID_ARGUMENT, "22021", new IllegalStateException());
        });

        assertThat(answers.violations()).singleElement().asString().contains("something else than its limits");
    }

    @Test
    void another_exception_and_another_code_are_ones() {
        answers.call("a", null, refusal(LockErrorCode.INTERNAL));
        answers.call("a", null, () -> {
            throw new NullPointerException();
        });
        answers.call("a", null, () -> {
            throw new ArithmeticException("long overflow");
        });

        assertThat(answers.violations()).hasSize(3);
    }

    @Test
    void a_second_line_is_one() {
        answers.requireOneLine("log", "a\nWARN b");
        answers.requireOneLine("log", "a\u2028b");
        answers.requireOneLine("log", "a\\u000ab");

        assertThat(answers.violations()).hasSize(2);
    }

    private static Callable<String> refusal(LockErrorCode code) {
        return () -> {
            throw new LockException(code, "refused");
        };
    }
}
