package io.syncguard;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.methods;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import io.syncguard.concurrent.Time;
import io.syncguard.spi.LeasePins;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The rules that separate the packages. Each says why. */
class ArchitectureTests {

    /** The classes of the library, without those of the other modules that its tests use. */
    private static final JavaClasses CLASSES = new ClassFileImporter().importPath("target/classes");

    @Test
    void dependencies_go_one_way() {
        layeredArchitecture()
                .consideringOnlyDependenciesInLayers()
                .layer("api")
                .definedBy("io.syncguard")
                .layer("concurrent")
                .definedBy("io.syncguard.concurrent")
                .layer("spi")
                .definedBy("io.syncguard.spi")
                .layer("core")
                .definedBy("io.syncguard.core")
                .layer("postgres")
                .definedBy("io.syncguard.postgres")
                .layer("redis")
                .definedBy("io.syncguard.redis")
                .layer("memory")
                .definedBy("io.syncguard.memory")
                .layer("interception")
                .definedBy("io.syncguard.interception")
                .layer("reactive")
                .definedBy("io.syncguard.reactive")
                .layer("aop")
                .definedBy("io.syncguard.aop")
                .layer("fencing")
                .definedBy("io.syncguard.fencing")
                .layer("web")
                .definedBy("io.syncguard.web")
                .layer("scheduling")
                .definedBy("io.syncguard.scheduling")
                .layer("shedlock")
                .definedBy("io.syncguard.shedlock")
                .layer("integration")
                .definedBy("io.syncguard.integration")
                .layer("leader")
                .definedBy("io.syncguard.leader")
                .layer("transaction")
                .definedBy("io.syncguard.transaction")
                .layer("micrometer")
                .definedBy("io.syncguard.micrometer")
                .layer("actuate")
                .definedBy("io.syncguard.actuate")
                .layer("autoconfigure")
                .definedBy("io.syncguard.autoconfigure")
                .whereLayer("api")
                .mayNotAccessAnyLayer()
                .whereLayer("concurrent")
                .mayOnlyAccessLayers("api")
                .whereLayer("spi")
                .mayOnlyAccessLayers("api", "concurrent")
                .whereLayer("core")
                .mayOnlyAccessLayers("api", "concurrent", "spi")
                .whereLayer("postgres")
                .mayOnlyAccessLayers("api", "concurrent", "spi")
                .whereLayer("redis")
                .mayOnlyAccessLayers("api", "concurrent", "spi")
                .whereLayer("memory")
                .mayOnlyAccessLayers("api", "concurrent", "spi")
                .whereLayer("interception")
                .mayOnlyAccessLayers("api", "concurrent")
                .whereLayer("aop")
                .mayOnlyAccessLayers("api", "interception", "leader", "reactive", "scheduling")
                .whereLayer("reactive")
                .mayOnlyAccessLayers("api")
                .whereLayer("fencing")
                .mayOnlyAccessLayers("api")
                .whereLayer("web")
                .mayOnlyAccessLayers("api")
                .whereLayer("scheduling")
                .mayOnlyAccessLayers("api")
                .whereLayer("shedlock")
                .mayOnlyAccessLayers("api")
                .whereLayer("integration")
                .mayOnlyAccessLayers("api")
                .whereLayer("leader")
                .mayOnlyAccessLayers("api", "concurrent")
                .whereLayer("transaction")
                .mayOnlyAccessLayers("api", "concurrent", "spi", "core")
                .whereLayer("micrometer")
                .mayOnlyAccessLayers("api", "concurrent", "spi", "core", "leader")
                .whereLayer("actuate")
                .mayOnlyAccessLayers("api", "concurrent", "spi", "core", "leader")
                .whereLayer("autoconfigure")
                .mayNotBeAccessedByAnyLayer()
                .ensureAllClassesAreContainedInArchitecture()
                .because("whoever reads a package must not need one that comes after it")
                .check(CLASSES);
    }

    @Test
    void there_are_no_cycles() {
        slices().matching("io.syncguard.(*)..").should().beFreeOfCycles().check(CLASSES);
    }

    @Test
    void three_classes_at_most_form_a_circle() {
        Map<String, Set<String>> uses = new TreeMap<>();
        for (JavaClass type : CLASSES) {
            type.getDirectDependenciesFromSelf().stream()
                    .map(Dependency::getTargetClass)
                    .filter(CLASSES::contains)
                    .forEach(used -> uses.computeIfAbsent(fileOf(type), file -> new TreeSet<>())
                            .add(fileOf(used)));
        }
        Map<String, Set<String>> reached = new TreeMap<>();
        uses.keySet().forEach(file -> reached.put(file, reachedFrom(file, uses)));
        Stream<List<String>> circles = reached.keySet().stream()
                .map(file -> reached.get(file).stream()
                        .filter(other -> reached.getOrDefault(other, Set.of()).contains(file))
                        .toList());

        assertThat(circles.distinct()).filteredOn(circle -> circle.size() > 3).isEmpty();
    }

    private static String fileOf(JavaClass type) {
        return type.getName().replaceFirst("\\$.*", "");
    }

    private static Set<String> reachedFrom(String file, Map<String, Set<String>> uses) {
        Set<String> reached = new TreeSet<>();
        Deque<String> open = new ArrayDeque<>(List.of(file));
        while (!open.isEmpty()) {
            uses.getOrDefault(open.remove(), Set.of()).stream()
                    .filter(reached::add)
                    .forEach(open::add);
        }
        return reached;
    }

    @Test
    void the_api_needs_the_jdk_alone() {
        classes()
                .that()
                .resideInAPackage("io.syncguard")
                .should()
                .onlyDependOnClassesThat()
                .resideInAnyPackage("io.syncguard", "java..", "org.jspecify..")
                .because("an application that only catches an exception must not need anything else")
                .check(CLASSES);
    }

    @Test
    void the_engine_knows_no_framework() {
        noClasses()
                .that()
                .resideInAnyPackage(
                        "io.syncguard.core", "io.syncguard.spi", "io.syncguard.concurrent", "io.syncguard.leader")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("org.springframework..", "javax.sql..")
                .because("the lock protocol is the same on every backend and under every framework")
                .check(CLASSES);
        noClasses()
                .that()
                .resideInAnyPackage("io.syncguard.core", "io.syncguard.spi", "io.syncguard.concurrent")
                .and()
                .haveNameNotMatching(LeasePins.class.getName().replace(".", "\\.") + ".*")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("java.sql..")
                .because("only what pins leases in a transaction of the application needs its connection")
                .check(CLASSES);
    }

    @Test
    void no_application_gets_the_locks_of_tests() {
        noClasses()
                .that()
                .resideOutsideOfPackage("io.syncguard.memory")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("io.syncguard.memory")
                .because("only the module for tests turns on a store that other processes do not see")
                .check(CLASSES);
    }

    @Test
    void one_class_alone_reads_a_clock_or_sleeps() {
        noClasses()
                .that(DescribedPredicate.not(DescribedPredicate.describe(
                        "the clock of the machine", type -> type.getName().startsWith(Time.class.getName()))))
                .should()
                .callMethod(System.class, "nanoTime")
                .orShould()
                .callMethod(System.class, "currentTimeMillis")
                .orShould()
                .callMethod(Thread.class, "sleep", long.class)
                .orShould()
                .callMethod(TimeUnit.class, "sleep", long.class)
                .orShould()
                .callMethod(java.time.Instant.class, "now")
                .orShould()
                .callMethod(java.util.concurrent.locks.Condition.class, "awaitNanos", long.class)
                .because("tests move the clock by hand, and the client's wall clock decides nothing")
                .check(CLASSES);
    }

    @Test
    void nobody_takes_part_in_the_callers_transaction() {
        noClasses()
                .that()
                .resideInAPackage("io.syncguard.postgres")
                .should()
                .dependOnClassesThat()
                .haveSimpleName("DataSourceUtils")
                .because("it binds a connection to the transaction of the caller")
                .check(CLASSES);
        noClasses()
                .that()
                .resideInAPackage("io.syncguard.postgres")
                .and()
                .doNotHaveSimpleName("PostgresConnections")
                .should()
                .dependOnClassesThat()
                .haveSimpleName("JdbcTemplate")
                .because("one class alone sets the caller's transaction aside, without which it keeps the connection")
                .check(CLASSES);
        noClasses()
                .that()
                .resideInAPackage("io.syncguard.redis")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("org.springframework.data.redis.core..", "org.springframework.transaction..")
                .because("RedisTemplate and RedisConnectionUtils bind a connection to the transaction of the caller")
                .check(CLASSES);
    }

    @Test
    void classes_are_final_or_say_what_others_implement() {
        classes()
                .that()
                .areNotInterfaces()
                .and()
                .areNotAnnotations()
                .and()
                .areNotEnums()
                .and()
                .areTopLevelClasses()
                .and()
                .areNotAssignableTo(LockException.class)
                .should()
                .haveModifier(JavaModifier.FINAL)
                .because("nothing here is made to be inherited from")
                .check(CLASSES.that(DescribedPredicate.describe(
                        "are no package-info", type -> !type.getSimpleName().equals("package-info"))));
    }

    @Test
    void bean_methods_are_package_private() {
        methods()
                .that()
                .areAnnotatedWith("org.springframework.context.annotation.Bean")
                .should()
                .bePackagePrivate()
                .because("the container calls them, and nobody else is to rely on them")
                .check(CLASSES);
    }
}
