package io.syncguard.compatibility;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.AccessTarget;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.util.ClassUtils;

/** Everything that the library calls exists in these versions, also where no test comes by. */
class LinkageTests {

    private static final JavaClasses LIBRARY = new ClassFileImporter().importPackages("io.syncguard");

    /** What the other generation of Spring Boot has, behind conditions. */
    private static final List<String> OF_BOOT_4 = List.of(
            "org.springframework.boot.flyway.",
            "org.springframework.boot.health.",
            "com.zaxxer.hikari.HikariConfig.getCredentialsProvider",
            "com.zaxxer.hikari.HikariConfig.setCredentialsProvider");

    private static final List<String> OF_BOOT_3 = List.of(
            "org.springframework.boot.actuate.health.",
            "org.springframework.boot.actuate.autoconfigure.health.",
            "org.springframework.boot.autoconfigure.flyway.");

    /** Libraries that this application does not have; ours are there for those that do. */
    private static final List<String> OF_OTHER_APPLICATIONS =
            List.of(
                    "graphql.",
                    "io.agroal.",
                    "liquibase.",
                    "io.micrometer.tracing.",
                    "net.javacrumbs.shedlock.",
                    "org.springframework.graphql.",
                    "org.springframework.integration.");

    @Test
    void whatever_the_library_calls_is_there() {
        Set<String> missing = new TreeSet<>();
        for (JavaClass each : LIBRARY) {
            each.getAccessesFromSelf().stream()
                    .map(JavaAccess::getTarget)
                    .filter(target -> !target.getOwner().isArray())
                    .filter(target -> target.resolveMember().isEmpty() && !isOfObject(target))
                    .map(AccessTarget::getFullName)
                    .filter(target -> OF_OTHER_APPLICATIONS.stream().noneMatch(target::startsWith))
                    .forEach(missing::add);
        }

        List<String> others = BootVersion.is3() ? OF_BOOT_4 : OF_BOOT_3;
        assertThat(missing).isNotEmpty().allMatch(target -> others.stream().anyMatch(target::startsWith));
    }

    @Test
    void of_each_auto_configuration_that_comes_before_ours_there_is_one_name_for_each_generation() {
        List<List<String>> names = LIBRARY.stream()
                .filter(type -> type.isAnnotatedWith(AutoConfiguration.class))
                .map(type -> List.of(type.getAnnotationOfType(AutoConfiguration.class)
                        .afterName()))
                .filter(each -> !each.isEmpty())
                .toList();

        assertThat(names)
                .isNotEmpty()
                .allSatisfy(each -> assertThat(each)
                        .filteredOn(name -> ClassUtils.isPresent(name, null))
                        .hasSize(each.size() / 2));
    }

    /** Compilers of JDK 18 and later call methods of Object on the type of the expression, also on an interface. */
    private static boolean isOfObject(AccessTarget target) {
        return target.getOwner().isInterface()
                && Stream.of(Object.class.getMethods())
                        .anyMatch(method -> method.getName().equals(target.getName()));
    }
}
