package io.syncguard;

import com.tngtech.archunit.core.domain.JavaClass;
import io.syncguard.autoconfigure.JdbcLockManagers;
import io.syncguard.testing.PublicApi;
import java.io.IOException;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/**
 * The API that applications and stores import, pinned for each module in {@code public-api}. A failure shows how to
 * change it on purpose; describe the change in CHANGELOG.md.
 */
class PublicApiTests {

    private static final Set<String> IMPORTED = Set.of(
            "io.syncguard",
            "io.syncguard.spi",
            "io.syncguard.rules",
            "io.syncguard.leader",
            "io.syncguard.fencing",
            "io.syncguard.web",
            "io.syncguard.micrometer",
            "io.syncguard.reactive",
            "io.syncguard.scheduling",
            "io.syncguard.shedlock",
            "io.syncguard.integration");

    @ParameterizedTest
    @FieldSource("io.syncguard.testing.LibraryModules#NAMES")
    void the_public_api_is_the_pinned_one(String module) throws IOException {
        PublicApi.assertPinned(module, PublicApiTests::isImported);
    }

    /** Other packages have public classes only if another package of the library needs them. */
    private static boolean isImported(JavaClass type) {
        return type.isAnnotation()
                || IMPORTED.contains(type.getPackageName())
                || type.isEquivalentTo(JdbcLockManagers.class);
    }
}
