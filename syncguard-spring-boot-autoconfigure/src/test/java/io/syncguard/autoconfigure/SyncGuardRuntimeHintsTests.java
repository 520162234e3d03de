package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.aot.hint.predicate.RuntimeHintsPredicates.proxies;
import static org.springframework.aot.hint.predicate.RuntimeHintsPredicates.reflection;
import static org.springframework.aot.hint.predicate.RuntimeHintsPredicates.resource;

import io.syncguard.DistributedLock;
import io.syncguard.core.ProcessStatus;
import io.syncguard.leader.LeaderOnly;
import io.syncguard.postgres.PromptSocketFactory;
import io.syncguard.testing.LibraryModules;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.beans.factory.aot.AotServices;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

class SyncGuardRuntimeHintsTests {

    private final RuntimeHints hints = new RuntimeHints();

    /** As Spring finds those of the library's modules. */
    @BeforeEach
    void register() {
        List<RuntimeHintsRegistrar> registrars = AotServices.factories().load(RuntimeHintsRegistrar.class).stream()
                .filter(registrar -> registrar.getClass().getName().startsWith("io.syncguard."))
                .toList();
        assertThat(registrars).hasSize(3);
        registrars.forEach(
                registrar -> registrar.registerHints(hints, getClass().getClassLoader()));
    }

    @Test
    void every_file_that_the_library_reads_is_in_the_image() throws IOException {
        List<String> read = new ArrayList<>();
        for (String module : LibraryModules.NAMES) {
            Path classes = LibraryModules.classesOf(module);
            try (Stream<Path> files = Files.walk(classes)) {
                files.filter(Files::isRegularFile)
                        .map(classes::relativize)
                        .map(Path::toString)
                        .filter(file -> !file.startsWith("META-INF") && !file.endsWith(".class"))
                        .forEach(read::add);
            }
        }

        assertThat(read)
                .hasSizeGreaterThan(20)
                .allMatch(file -> resource().forResource(file).test(hints));
    }

    @Test
    void what_others_make_or_read_by_reflection_is_in_the_image() throws NoSuchFieldException {
        assertThat(reflection()
                        .onType(PromptSocketFactory.class)
                        .withMemberCategory(MemberCategory.INVOKE_PUBLIC_CONSTRUCTORS))
                .accepts(hints);
        assertThat(reflection().onFieldAccess(LettuceConnectionFactory.class.getDeclaredField("configuration")))
                .accepts(hints);
        for (var component : ProcessStatus.class.getRecordComponents()) {
            assertThat(reflection().onMethodInvocation(component.getAccessor())).accepts(hints);
        }
    }

    @Test
    void annotations_and_lent_connections_are_proxies_in_the_image() {
        assertThat(proxies().forInterfaces(DistributedLock.class)).accepts(hints);
        assertThat(proxies().forInterfaces(LeaderOnly.class)).accepts(hints);
        assertThat(proxies().forInterfaces(Connection.class)).accepts(hints);
    }
}
