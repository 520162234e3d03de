package io.syncguard.aop;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.DistributedLock;
import io.syncguard.LockManager;
import io.syncguard.LockSetupException;
import io.syncguard.core.DefaultSettings;
import io.syncguard.core.LockEngine;
import io.syncguard.core.TransactionBoundary;
import io.syncguard.memory.InMemoryLockBackend;
import io.syncguard.memory.InMemoryStore;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.AliasFor;

/**
 * An annotation chooses the lock manager by its qualifier or the name of its bean.
 */
@Timeout(60)
class DistributedLockManagerTests {

    private static final InMemoryStore ARCHIVE = newStore();

    @RegisterExtension
    private final LockedApplication application = new LockedApplication();

    @Test
    void who_names_no_manager_gets_the_primary_one() {
        run(archive -> archive.byDefault());

        assertThat(application.grants("by-default")).isEqualTo(1);
        assertThat(ARCHIVE.fence("by-default")).isZero();
    }

    @Test
    void a_manager_is_chosen_by_its_qualifier() {
        run(archive -> archive.byQualifier());

        assertThat(ARCHIVE.fence("by-qualifier")).isEqualTo(1);
        assertThat(application.grants("by-qualifier")).isZero();
    }

    @Test
    void a_manager_is_chosen_by_the_name_of_its_bean() {
        run(archive -> archive.byBeanName());

        assertThat(ARCHIVE.fence("by-bean-name")).isEqualTo(1);
        assertThat(application.grants("by-bean-name")).isZero();
    }

    @Test
    void a_composed_annotation_chooses_and_passes_the_choice_on() {
        run(archive -> {
            archive.composed();
            archive.composedElsewhere();
        });

        assertThat(ARCHIVE.fence("composed")).isEqualTo(1);
        assertThat(application.grants("composed")).isZero();
        assertThat(application.grants("composed-elsewhere")).isEqualTo(1);
        assertThat(ARCHIVE.fence("composed-elsewhere")).isZero();
    }

    @Test
    void a_placeholder_names_the_manager() {
        runner().withPropertyValues("manager=archive")
                .run(context -> context.getBean(Archive.class).byPlaceholder());

        assertThat(ARCHIVE.fence("by-placeholder")).isEqualTo(1);
        assertThat(application.grants("by-placeholder")).isZero();
    }

    @Test
    void all_keys_of_a_call_are_locked_by_the_manager_that_is_named() {
        run(archive -> archive.many(List.of("one", "two")));

        assertThat(List.of(ARCHIVE.fence("many:one"), ARCHIVE.fence("many:two")))
                .containsExactly(1L, 1L);
        assertThat(application.grants("many:one")).isZero();
    }

    @Test
    void a_name_that_nobody_has_fails_the_start_with_a_list_of_those_there_are() {
        runner().withUserConfiguration(Misspelt.class)
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessageContaining("no LockManager")
                        .hasMessageContaining("'archiv'")
                        .hasMessageContaining("[archive, archiveLocks, locks]"));
    }

    @Test
    void the_message_says_where_the_mistake_is() {
        runner().withUserConfiguration(Misspelt.class)
                .run(context -> assertThat(context)
                        .getFailure()
                        .hasStackTraceContaining(LockSetupException.class.getName())
                        .hasStackTraceContaining("Misspelt.run, attribute 'lockManager'"));
    }

    @Test
    void a_qualifier_of_two_managers_fails_the_start() {
        runner().withUserConfiguration(SecondArchive.class)
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessageContaining("more than one LockManager")
                        .hasMessageContaining("archiveLocks")
                        .hasMessageContaining("moreLocks"));
    }

    private void run(Consumer<Archive> calls) {
        runner().run(context -> calls.accept(context.getBean(Archive.class)));
    }

    private ApplicationContextRunner runner() {
        return application.with(ArchiveLocks.class).withPropertyValues("manager=");
    }

    private static InMemoryStore newStore() {
        return new InMemoryStore();
    }

    private static LockEngine engine(InMemoryStore store) {
        return new LockEngine(
                new InMemoryLockBackend(store), DefaultSettings.of("archive"), TransactionBoundary.NONE, List.of());
    }

    @Configuration(proxyBeanMethods = false)
    static class ArchiveLocks {

        @Bean(defaultCandidate = false)
        @Qualifier("archive")
        LockManager archiveLocks() {
            return engine(ARCHIVE);
        }

        @Bean
        Archive archiveOfOrders() {
            return new Archive();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class SecondArchive {

        @Bean(defaultCandidate = false)
        @Qualifier("archive")
        LockManager moreLocks() {
            return engine(newStore());
        }
    }

    @Retention(RetentionPolicy.RUNTIME)
    @DistributedLock(lockManager = "archive")
    @interface ArchiveLock {

        @AliasFor(annotation = DistributedLock.class)
        String name();

        @AliasFor(annotation = DistributedLock.class)
        String lockManager() default "archive";
    }

    static class Archive {

        @DistributedLock(name = "by-default")
        public void byDefault() {}

        @DistributedLock(name = "by-qualifier", lockManager = "archive")
        public void byQualifier() {}

        @DistributedLock(name = "by-bean-name", lockManager = "archiveLocks")
        public void byBeanName() {}

        @ArchiveLock(name = "composed")
        public void composed() {}

        @ArchiveLock(name = "composed-elsewhere", lockManager = "locks")
        public void composedElsewhere() {}

        @DistributedLock(name = "by-placeholder", lockManager = "${manager}")
        public void byPlaceholder() {}

        @DistributedLock(name = "many", key = "#keys", lockManager = "archive")
        public void many(List<String> keys) {}
    }

    static class Misspelt {

        @DistributedLock(name = "misspelt", lockManager = "archiv")
        public void run() {}
    }
}
