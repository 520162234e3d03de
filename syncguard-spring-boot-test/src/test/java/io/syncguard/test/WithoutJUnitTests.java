package io.syncguard.test;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static io.syncguard.test.LockAssertions.assertThatLock;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.test.autoconfigure.AutoConfigureTestLocks;
import java.lang.reflect.Method;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.test.context.TestContextManager;

/** Any test framework will do that Spring's test context supports. */
class WithoutJUnitTests {

    private static final JavaClasses CLASSES = new ClassFileImporter().importPath("target/classes");

    @SpringBootTest(classes = OrderApplication.class)
    @AutoConfigureTestLocks
    static class AnyTest {

        @Autowired
        LockManager manager;

        @Autowired
        LockTestControl control;

        void method() {}
    }

    @Test
    void a_test_method_of_any_framework_has_locks_and_a_reset() throws Exception {
        TestContextManager framework = new TestContextManager(AnyTest.class);
        AnyTest test = new AnyTest();
        Method method = AnyTest.class.getDeclaredMethod("method");
        framework.prepareTestInstance(test);
        framework.beforeTestMethod(test, method);
        test.manager.acquire(LockRequest.of("order:42"));
        assertThatLock("order:42").isHeld();
        framework.afterTestMethod(test, method, null);

        assertThat(test.control.status("order:42").holders()).isEmpty();
        assertThatIllegalStateException()
                .isThrownBy(() -> assertThatLock("order:42"))
                .withMessageStartingWith("No test with @AutoConfigureTestLocks runs. ");
    }

    @Test
    void no_class_needs_junit() {
        noClasses()
                .should()
                .dependOnClassesThat()
                .resideInAPackage("org.junit..")
                .because("Spring's test context also runs under TestNG, Spock and others")
                .check(CLASSES);
    }

    @Test
    void only_the_assertions_need_assertj() {
        noClasses()
                .that()
                .haveSimpleNameNotStartingWith("LockAssert")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("org.assertj..")
                .because("a context with the control starts without AssertJ, too")
                .check(CLASSES);
    }
}
