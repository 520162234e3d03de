package io.syncguard;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.methods;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import io.syncguard.concurrent.Time;
import io.syncguard.spi.ForwardingBackend;
import io.syncguard.testing.LibraryModules;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The rules that separate the packages. Each says why. */
class ArchitectureTests {

    private static final JavaClasses CLASSES = LibraryModules.importAll();

    /**
     * The packages below {@code io.syncguard} that each package may use beside the API. The compiler sees the modules;
     * it does not see the packages of one module, nor that a store knows no engine.
     */
    private static final Map<String, Set<String>> USES = Map.ofEntries(
            entry("concurrent", Set.of()),
            entry("spi", Set.of("concurrent")),
            entry("batching", Set.of("concurrent", "spi")),
            entry("core", Set.of("batching", "concurrent", "spi")),
            entry("leader", Set.of("concurrent")),
            entry("rules", Set.of("spi")),
            entry("memory", Set.of("concurrent", "spi", "rules")),
            entry("jdbc", Set.of("concurrent", "spi")),
            entry("portable", Set.of("concurrent", "spi", "rules", "jdbc")),
            entry("postgres", Set.of("concurrent", "spi", "jdbc")),
            entry("redis", Set.of("concurrent", "spi")),
            entry("interception", Set.of("concurrent")),
            entry("scheduling", Set.of()),
            entry("reactive", Set.of()),
            entry("fencing", Set.of()),
            entry("aop", Set.of("concurrent", "interception", "leader", "reactive", "scheduling")),
            entry("transaction", Set.of("concurrent", "spi", "core")),
            entry("micrometer", Set.of("concurrent", "spi", "core", "leader")),
            entry("web", Set.of()),
            entry("shedlock", Set.of()),
            entry("integration", Set.of()),
            entry("actuate", Set.of("concurrent", "spi", "core", "leader")));

    @ParameterizedTest
    @MethodSource("packages")
    void a_package_uses_those_below_it_alone(String name) {
        Set<String> others = new TreeSet<>(packages().toList());
        others.removeAll(USES.getOrDefault(name, others));
        others.remove(name);
        noClasses()
                .that()
                .resideInAPackage("io.syncguard." + name + "..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(others.stream()
                        .map(other -> "io.syncguard." + other + "..")
                        .toArray(String[]::new))
                .because("whoever reads a package must not need one that comes after it")
                .check(CLASSES);
    }

    @Test
    void batches_know_neither_locks_nor_stores() {
        noClasses()
                .that()
                .haveNameMatching(
                        "io\\.syncguard\\.batching\\.(Batch|Batcher|BatchedCall|BatchedReply|TakenRequests|Turns)")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("io.syncguard", "io.syncguard.spi")
                .because("its tests make interleavings of requests without a store")
                .check(CLASSES);
    }

    /** All but the API itself. Only the auto-configuration has no row, because it wires all others. */
    static Stream<String> packages() {
        return CLASSES.stream()
                .map(type -> type.getPackageName().split("\\."))
                .filter(names -> names.length > 2)
                .map(names -> names[2])
                .distinct()
                .sorted();
    }

    @Test
    void every_package_has_a_row_and_one_module() {
        assertThat(packages()).containsExactlyInAnyOrderElementsOf(withAutoConfiguration());
        Map<String, List<String>> modules = new TreeMap<>();
        LibraryModules.NAMES.forEach(module -> new ClassFileImporter()
                .importPath(LibraryModules.classesOf(module)).stream()
                        .map(JavaClass::getPackageName)
                        .distinct()
                        .forEach(name -> modules.computeIfAbsent(name, unused -> new ArrayList<>())
                                .add(module)));
        assertThat(modules).allSatisfy((name, of) -> assertThat(of).as(name).hasSize(1));
    }

    private static Set<String> withAutoConfiguration() {
        Set<String> all = new TreeSet<>(USES.keySet());
        all.add("autoconfigure");
        return all;
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
                .resideInAnyPackage("io.syncguard.jdbc..", "io.syncguard.postgres..")
                .should()
                .dependOnClassesThat()
                .haveSimpleName("DataSourceUtils")
                .because("it binds a connection to the transaction of the caller")
                .check(CLASSES);
        noClasses()
                .that()
                .resideInAnyPackage("io.syncguard.jdbc..", "io.syncguard.postgres..")
                .and()
                .doNotHaveSimpleName("JdbcConnections")
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
                .and()
                .doNotBelongToAnyOf(ForwardingBackend.class)
                .should()
                .haveModifier(JavaModifier.FINAL)
                .because("nothing else is made to be inherited from")
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
