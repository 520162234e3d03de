package io.syncguard.testing;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The classes of the library's modules, without their tests. Works only in tests of a sibling module. */
public final class LibraryModules {

    public static final List<String> NAMES = List.of(
            "syncguard-core",
            "syncguard-memory",
            "syncguard-jdbc",
            "syncguard-postgres",
            "syncguard-redis",
            "syncguard-spring",
            "syncguard-spring-boot-autoconfigure");

    private LibraryModules() {}

    public static Path classesOf(String module) {
        // The module is one of the library, or stands in "internal".
        Path beside = Path.of("..", module);
        Path found = Files.isDirectory(beside) ? beside : Path.of("..", "..", module);
        return found.resolve("target").resolve("classes");
    }

    public static JavaClasses importAll() {
        return new ClassFileImporter()
                .importPaths(NAMES.stream().map(LibraryModules::classesOf).toList());
    }
}
