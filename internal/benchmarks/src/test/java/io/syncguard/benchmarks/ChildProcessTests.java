package io.syncguard.benchmarks;

import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import org.junit.jupiter.api.Test;

class ChildProcessTests {

    @Test
    void a_failure_in_the_other_process_tells_its_cause() throws Exception {
        try (ChildProcess process = new ChildProcess()) {
            assertThatIllegalStateException()
                    .isThrownBy(() -> process.ask("sing"))
                    .withMessageContaining("java.lang.IllegalArgumentException: sing")
                    .withMessageContaining("at io.syncguard.benchmarks.Child.answer");
        }
    }
}
