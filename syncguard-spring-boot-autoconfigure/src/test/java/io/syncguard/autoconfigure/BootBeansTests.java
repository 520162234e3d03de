package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.DistributedLock;
import io.syncguard.LockAdmin;
import io.syncguard.LockManager;
import io.syncguard.LockTemplate;
import io.syncguard.core.DefaultSettings;
import io.syncguard.core.LockEngine;
import io.syncguard.core.TransactionBoundary;
import io.syncguard.fencing.FenceGuard;
import io.syncguard.leader.LeaderElection;
import io.syncguard.reactive.ReactiveLockTemplate;
import io.syncguard.spi.LockBackend;
import io.syncguard.testing.BugOf;
import io.syncguard.web.FenceHeaderInterceptor;
import io.syncguard.web.GraphQlLockErrorResolver;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledExecutorService;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.context.annotation.ImportCandidates;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.task.TaskExecutor;
import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.transaction.TransactionManager;
import org.springframework.util.ClassUtils;

class BootBeansTests {

    private static TestDatabase database;

    @BeforeAll
    static void makeDatabase() {
        database = TestDatabase.withSchema();
    }

    @BugOf("alturkovic: a TaskScheduler bean of the library makes that of Boot disappear")
    @Test
    void boots_beans_are_the_same_with_and_without_the_library() {
        Class<?>[] types = {
            DataSource.class,
            JdbcOperations.class,
            TransactionManager.class,
            TaskScheduler.class,
            TaskExecutor.class,
            Executor.class,
            ScheduledExecutorService.class
        };
        String[][] with = new String[types.length][];
        runner().run(application -> Arrays.setAll(with, i -> application.getBeanNamesForType(types[i])));
        runner().withPropertyValues("syncguard.enabled=false").run(application -> {
            assertThat(with)
                    .isDeepEqualTo(Arrays.stream(types)
                            .map(application::getBeanNamesForType)
                            .toArray(String[][]::new));
            assertThat(with[3]).containsExactly("taskScheduler");
            assertThat(with[5]).contains("applicationTaskExecutor");
        });
    }

    @Test
    void only_what_an_application_injects_is_there_when_the_library_is_switched_off() {
        runner().withPropertyValues("syncguard.enabled=false").run(application -> {
            assertThat(application).hasNotFailed();
            assertThat(application).doesNotHaveBean(LockBackend.class);
            assertThat(Arrays.stream(application.getBeanDefinitionNames())
                            .map(application::getType)
                            .filter(type -> type != null && type.getName().startsWith("io.syncguard."))
                            .toList())
                    .containsExactlyInAnyOrder(
                            application.getType("bootBeansTests.OwnBeans"),
                            Annotated.class,
                            SyncGuardDisabledAutoConfiguration.class,
                            SyncGuardLeaderAutoConfiguration.class,
                            SyncGuardProperties.class,
                            LeaderElection.class,
                            LeaderLifecycle.class,
                            SyncGuardWebAutoConfiguration.class,
                            SyncGuardWebAutoConfiguration.GraphQlConfiguration.class,
                            GraphQlLockErrorResolver.class,
                            FenceHeaderInterceptor.class,
                            SyncGuardReactiveAutoConfiguration.class,
                            ReactiveLockTemplate.class,
                            LockManager.withoutLocks().getClass(),
                            application.getBean(LockAdmin.class).getClass(),
                            LockTemplate.class);
            assertThat(application.getBean(Annotated.class).run()).isEqualTo("ran");
            assertThat(database.lockedKeys()).isEmpty();
        });
    }

    @Test
    void a_switched_off_library_needs_no_database() {
        Applications.withoutBoot()
                .withPropertyValues("syncguard.enabled=false")
                .run(application -> assertThat(application).hasNotFailed());
    }

    @Test
    void annotated_methods_run_under_a_lock_where_spring_aop_auto_is_off() {
        runner().withPropertyValues("spring.aop.auto=false")
                .run(application ->
                        assertThat(application.getBean(Annotated.class).run()).isEqualTo("ran under annotated"));
    }

    @Test
    void a_lock_manager_of_the_application_replaces_ours() {
        runner().withUserConfiguration(OwnManager.class).run(application -> {
            assertThat(application).hasNotFailed();
            assertThat(application.getBean(LockTemplate.class).manager()).isSameAs(application.getBean("ownManager"));
        });
    }

    /** If two beans have one name, Spring Boot's advice keeps one in silence. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void the_application_may_use_any_name(boolean overriding) {
        List<String> names = List.of(
                "lockManager",
                "lockTemplate",
                "lockAdmin",
                "secondLockManager",
                "secondLockTemplate",
                "secondLockAdmin",
                "postgresLockManager",
                "reactiveLockTemplate",
                "distributedLockAdvisor",
                "leaderElection",
                "leaderOnlyAdvisor",
                "fenceGuard",
                "fenceHeaderInterceptor");
        ApplicationContextRunner runner = runner().withAllowBeanDefinitionOverriding(overriding)
                .withPropertyValues("syncguard.fencing.enabled=true");
        for (String name : names) {
            runner = runner.withBean(name, StringBuilder.class, () -> new StringBuilder(name));
        }
        runner.run(application -> {
            assertThat(application).hasNotFailed();
            assertThat(application.getBean(Annotated.class).run()).isEqualTo("ran under annotated");
            assertThat(application).hasSingleBean(LockTemplate.class).hasSingleBean(LeaderElection.class);
            assertThat(application).hasSingleBean(FenceGuard.class).hasSingleBean(ReactiveLockTemplate.class);
            assertThat(names)
                    .allSatisfy(name -> assertThat(application.getBean(name)).hasToString(name));
        });
    }

    @Test
    void each_bean_of_the_library_has_a_name_that_no_application_uses() {
        List<String> names = ImportCandidates.load(AutoConfiguration.class, null).getCandidates().stream()
                .filter(name -> name.startsWith("io.syncguard.autoconfigure."))
                .map(name -> ClassUtils.resolveClassName(name, null))
                .flatMap(type -> Stream.concat(Stream.of(type), Stream.of(type.getDeclaredClasses())))
                .flatMap(type -> Stream.of(type.getDeclaredMethods()))
                .filter(method -> method.isAnnotationPresent(Bean.class))
                .map(method -> {
                    String[] given = AnnotatedElementUtils.getMergedAnnotation(method, Bean.class)
                            .name();
                    return given.length == 0 ? method.getName() : given[0];
                })
                .toList();
        // Spring Boot calls the health indicator by the name of its bean.
        assertThat(names).hasSizeGreaterThan(30).allMatch(name -> name.matches("sync[Gg]uard[A-Z].+"));
    }

    private static ApplicationContextRunner runner() {
        return Applications.on(database.url())
                .withUserConfiguration(OwnBeans.class)
                .withAllowBeanDefinitionOverriding(false);
    }

    @Configuration(value = "bootBeansTests.OwnBeans", proxyBeanMethods = false)
    @EnableScheduling
    @EnableAsync
    static class OwnBeans {

        @Bean
        Annotated annotated() {
            return new Annotated();
        }
    }

    static class Annotated {

        @DistributedLock(name = "annotated")
        public String run() {
            return database.lockedKeys().stream()
                    .findFirst()
                    .map(key -> "ran under " + key)
                    .orElse("ran");
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnManager {

        @Bean
        LockManager ownManager(LockBackend backend) {
            return new LockEngine(backend, DefaultSettings.of("test"), TransactionBoundary.NONE, List.of());
        }
    }
}
