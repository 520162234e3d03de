package io.syncguard.testing;

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
import java.util.function.Predicate;
import java.util.stream.Stream;

/** The public members of a module, compared with the pinned ones in {@code public-api}. */
public final class PublicApi {

    private PublicApi() {}

    /** @param isImported whether an application imports a class */
    public static void assertPinned(String module, Predicate<JavaClass> isImported) throws IOException {
        Path pinned = Path.of("src/test/resources/public-api", module + ".txt");
        Path changed = Path.of("target", module + ".txt");
        List<String> actual = new ClassFileImporter()
                .importPath(LibraryModules.classesOf(module)).stream()
                        .filter(PublicApi::isVisible)
                        .filter(isImported)
                        .map(JavaClass::reflect)
                        .flatMap(PublicApi::lines)
                        .sorted()
                        .toList();
        Files.write(changed, actual);

        assertThat(actual)
                .as("changed on purpose? cp %s %s", changed, pinned)
                .containsExactlyElementsOf(Files.readAllLines(pinned));
    }

    private static boolean isVisible(JavaClass type) {
        return type.getModifiers().contains(JavaModifier.PUBLIC)
                && type.getEnclosingClass().map(PublicApi::isVisible).orElse(true);
    }

    private static Stream<String> lines(Class<?> type) {
        return Stream.concat(
                Stream.of(type.toGenericString().replaceAll("^.*(class|interface|enum|record) ", "$1 ")),
                Stream.of(type.getDeclaredFields(), type.getDeclaredConstructors(), type.getDeclaredMethods())
                        .flatMap(Arrays::stream)
                        .filter(PublicApi::isVisible)
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
