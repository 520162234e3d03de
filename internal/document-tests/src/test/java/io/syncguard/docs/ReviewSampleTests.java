package io.syncguard.docs;

import static com.tngtech.archunit.library.ProxyRules.no_classes_should_directly_call_other_methods_declared_in_the_same_class_that_are_annotated_with;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchRule;
import io.syncguard.DistributedLock;
import org.junit.jupiter.api.Test;

/** The rule in docs/testing.md that finds calls which the proxy does not see. */
class ReviewSampleTests {

    // sample: arch-rule
    static final ArchRule LOCKED_METHODS_ARE_CALLED_FROM_OUTSIDE =
            no_classes_should_directly_call_other_methods_declared_in_the_same_class_that_are_annotated_with(
                    DistributedLock.class); // com.tngtech.archunit.library.ProxyRules
    // end

    private final ClassFileImporter classes = new ClassFileImporter();

    @Test
    void a_call_within_the_class_is_found_also_in_a_lambda() {
        assertThat(LOCKED_METHODS_ARE_CALLED_FROM_OUTSIDE
                        .evaluate(classes.importClasses(Inside.class))
                        .getFailureReport()
                        .getDetails())
                .hasSize(2);
    }

    @Test
    void a_call_of_another_bean_is_accepted() {
        assertThatCode(() -> LOCKED_METHODS_ARE_CALLED_FROM_OUTSIDE.check(
                        classes.importClasses(Outside.class, Inside.Locked.class)))
                .doesNotThrowAnyException();
    }

    static class Inside {

        void direct() {
            submit();
        }

        Runnable later() {
            return () -> submit();
        }

        @DistributedLock("order")
        void submit() {}

        static class Locked {

            @DistributedLock("order")
            void submit() {}
        }
    }

    static class Outside {

        void call(Inside.Locked locked) {
            locked.submit();
        }
    }
}
