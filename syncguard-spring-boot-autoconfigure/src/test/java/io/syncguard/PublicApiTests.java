package io.syncguard;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The API that applications and stores import, pinned in {@code public-api.txt}. To change it on purpose, copy
 * {@code target/public-api.txt} over the pinned file, and describe the change in CHANGELOG.md.
 */
class PublicApiTests {

    private static final Path PINNED = Path.of("src/test/resources/public-api.txt");

    private static final Path ACTUAL = Path.of("target/public-api.txt");

    private static final Set<String> IMPORTED = Set.of(
            "io.syncguard", "io.syncguard.spi", "io.syncguard.leader", "io.syncguard.fencing", "io.syncguard.web");

    @Test
    void the_public_api_is_the_pinned_one() throws IOException {
        List<String> actual = new ClassFileImporter()
                .importPath("target/classes").stream()
                        .filter(PublicApiTests::isVisible)
                        .filter(PublicApiTests::isImported)
                        .map(JavaClass::reflect)
                        .flatMap(PublicApiTests::lines)
                        .sorted()
                        .toList();
        Files.write(ACTUAL, actual);

        assertThat(actual)
                .as("changed on purpose? cp %s %s", ACTUAL, PINNED)
                .containsExactlyElementsOf(Files.readAllLines(PINNED));
    }

    private static boolean isVisible(JavaClass type) {
        return type.getModifiers().contains(JavaModifier.PUBLIC)
                && type.getEnclosingClass().map(PublicApiTests::isVisible).orElse(true);
    }

    /** Other packages have public classes only if another package of the library needs them. */
    private static boolean isImported(JavaClass type) {
        return type.isAnnotation() || IMPORTED.contains(type.getPackageName());
    }

    private static Stream<String> lines(Class<?> type) {
        return Stream.concat(
                Stream.of(type.toGenericString().replaceAll("^.*(class|interface|enum|record) ", "$1 ")),
                Stream.of(type.getDeclaredFields(), type.getDeclaredConstructors(), type.getDeclaredMethods())
                        .flatMap(Arrays::stream)
                        .filter(PublicApiTests::isVisible)
                        .map(member -> type.getName() + " : " + signature(member)));
    }

    private static boolean isVisible(Member member) {
        return (member.getModifiers() & (Modifier.PUBLIC | Modifier.PROTECTED)) != 0
                && !member.isSynthetic()
                && !(member instanceof Method method && method.isBridge());
    }

    private static String signature(Member member) {
        if (member instanceof Field field) {
            return field.toGenericString();
        }
        return member instanceof Method method ? method.toGenericString() : ((Constructor<?>) member).toGenericString();
    }
}
