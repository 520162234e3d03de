package io.syncguard.verification;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import org.junit.jupiter.api.Test;

class ArchitectureTests {

    private static final String HISTORY = "io.syncguard.verification.history..";

    private static final JavaClasses CLASSES = new ClassFileImporter().importPackages("io.syncguard.verification");

    @Test
    void packages_depend_on_each_other_in_one_direction() {
        slices().matching("io.syncguard.verification.(*)..")
                .should()
                .beFreeOfCycles()
                .check(CLASSES);
    }

    @Test
    void the_checker_of_histories_knows_none_of_the_runs() {
        noClasses()
                .that()
                .resideInAPackage(HISTORY)
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(
                        "io.syncguard.verification",
                        "io.syncguard.verification.recording..",
                        "io.syncguard.verification.stress..",
                        "io.syncguard.verification.matrix..")
                .check(CLASSES);
    }

    /** Two judges that share a mistake do not find it. */
    @Test
    void the_rules_of_the_calls_share_no_code_with_the_checker_of_histories() {
        noClasses()
                .that()
                .haveNameMatching(".*\\.(Call|CallLog|CallRules|CalmRules|ServedRule|Gaps|Absences)(\\$.*)?")
                .should()
                .dependOnClassesThat()
                .resideInAPackage(HISTORY)
                .check(CLASSES);
    }
}
